use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderValue, header};

use super::problem::{Problem, ProblemType};
use super::state::{App, Identity};
use crate::Principal;
use crate::log::owner_tag;
use crate::reach::Occasion;
use crate::store::digest;

/// The authenticated caller. The owner comes from the token and from nowhere else.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    pub(crate) owner: String,
    role: Principal,
}

impl Caller {
    /// Refuses anybody who is no operator.
    pub(crate) fn must_be_operator(&self) -> Result<(), Problem> {
        match self.role {
            Principal::Operator => Ok(()),
            Principal::User => Err(Problem::new(
                ProblemType::Forbidden,
                "deciding over an attempt takes evidence that only an operator has; use an operator's token",
            )),
        }
    }
}

impl FromRequestParts<App> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let rules = &app.store.rules;
        let identity = match (identify(parts, app).await?, rules.anonymous) {
            (Ok(identity), _) => identity,
            (Err(_), Some(guest)) => Identity { owner: guest.to_owned(), role: Principal::User },
            (Err(refusal), None) => {
                rules.reach.met(Occasion::Anonymous);
                return Err(refusal);
            }
        };
        tracing::Span::current().record("owner", owner_tag(&identity.owner));
        rules.reach.named("owner", &identity.owner, |rules| (rules.scope)(&identity.owner));
        Ok(Self { owner: (rules.scope)(&identity.owner), role: identity.role })
    }
}

/// Who sent the request, or why nobody can say. Fails where the database does.
async fn identify(parts: &Parts, app: &App) -> Result<Result<Identity, Problem>, Problem> {
    let Some(secret) = bearer(parts) else {
        return Ok(Err(refuse("send `Authorization: Bearer <token>`")));
    };
    // The comparison is a lookup by hash: its timing tells nothing about the secret.
    let digest = digest(secret);
    if let Some(identity) = app.remembered(&digest) {
        return Ok(Ok(identity));
    }
    let Some((owner, role)) = app.store.token(&digest).await? else {
        return Ok(Err(refuse("the token is not known")));
    };
    let identity = Identity { owner, role };
    app.remember(digest, identity.clone());
    Ok(Ok(identity))
}

fn bearer(parts: &Parts) -> Option<&str> {
    let mut lines = parts.headers.get_all(header::AUTHORIZATION).iter();
    let line = lines.next()?.to_str().ok()?;
    if lines.next().is_some() {
        return None;
    }
    let (scheme, secret) = line.split_once(' ')?;
    let secret = secret.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !secret.is_empty()).then_some(secret)
}

fn refuse(detail: &str) -> Problem {
    Problem::new(ProblemType::Unauthenticated, detail)
        .header(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"))
}
