//! Workflows that run the suite on every change.

use std::path::{Path, PathBuf};

use super::super::args::Ci;

/// Where the workflow goes, from the folder of the target file, and what is in it.
pub(super) fn workflow(ci: Ci, target: &Path, variables: &[String]) -> (PathBuf, String) {
    let target = target.file_name().map_or("onejob.toml".into(), |name| name.to_string_lossy());
    match ci {
        Ci::Github => (PathBuf::from(".github/workflows/onejob.yml"), github(&target, variables)),
        Ci::Gitlab => (PathBuf::from("onejob.gitlab-ci.yml"), gitlab(&target, variables)),
    }
}

fn github(target: &str, variables: &[String]) -> String {
    let secret = |name: &String| format!("          {name}: ${{{{ secrets.{name} }}}}\n");
    let secrets = variables.iter().map(secret).collect::<Vec<_>>().concat();
    let env = if secrets.is_empty() { String::new() } else { format!("        env:\n{secrets}") };
    format!(
        r"# Runs onejob's suite against this service, as {target} says. Made by `onejob init --ci github`.
name: onejob
on:
  pull_request:
  push:
    branches: [main]

permissions:
  contents: read
  # For the SARIF file, which shows findings beside the code.
  security-events: write

jobs:
  onejob:
    runs-on: ubuntu-latest
    timeout-minutes: 20
    steps:
      - uses: actions/checkout@v4
      # What your service needs to start goes here: its own toolchain, its packages.
      - name: Install onejob
        # `--git URL` in the variable ONEJOB_SOURCE takes it from a repository instead.
        run: cargo install --locked ${{{{ vars.ONEJOB_SOURCE || 'onejob' }}}}
      - name: Does the target file fit the service?
        run: onejob doctor {target}
{env}      - name: Run the suite
        # The summary of the job gets the table, the pull request the findings.
        run: >-
          onejob run --target {target} --report annotations=annotations.txt --report junit=onejob.xml
          --report html=onejob.html --report sarif=onejob.sarif --report markdown=summary.md
{env}      - name: Show the findings
        if: always()
        run: |
          cat annotations.txt || true
          cat summary.md >> ${{GITHUB_STEP_SUMMARY}} || true
      - uses: actions/upload-artifact@v4
        if: always()
        with:
          name: onejob
          path: onejob.*
"
    )
}

fn gitlab(target: &str, variables: &[String]) -> String {
    let named = match variables {
        [] => String::new(),
        some => {
            format!("# It needs these variables (Settings, CI/CD, Variables; masked): {}\n", some.join(", "))
        }
    };
    format!(
        r"# Runs onejob's suite against this service, as {target} says. Made by `onejob init --ci gitlab`.
# Include it in .gitlab-ci.yml:  include: {{ local: onejob.gitlab-ci.yml }}
{named}onejob:
  stage: test
  # Any image with a Rust toolchain and what your service needs to start.
  image: rust:latest
  timeout: 20m
  variables:
    # `--git URL` takes it from a repository instead.
    ONEJOB_SOURCE: onejob
  services:
    # Where the target file asks for a database.
    - name: postgres:17
      alias: postgres
      variables: {{ POSTGRES_PASSWORD: onejob }}
  script:
    - cargo install --locked $ONEJOB_SOURCE
    - export ONEJOB_DATABASE_URL=postgres://postgres:onejob@postgres/postgres
    - onejob doctor {target}
    - onejob run --target {target} --report junit=onejob.xml --report html=onejob.html
  artifacts:
    when: always
    reports: {{ junit: onejob.xml }}
    paths: [onejob.html]
"
    )
}
