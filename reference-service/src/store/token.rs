use sha2::{Digest as _, Sha256};
use sqlx::Row as _;

use super::transaction::transaction;
use super::{Store, StoreError, Wait};
use crate::{Principal, Token};

/// The digest under which a token is stored.
pub(crate) fn digest(secret: &str) -> [u8; 32] {
    Sha256::digest(secret.as_bytes()).into()
}

impl Store {
    /// Writes tokens that are not there yet.
    pub(crate) async fn add_tokens(&self, tokens: Vec<Token>) -> Result<(), StoreError> {
        if tokens.is_empty() {
            return Ok(());
        }
        let digests: Vec<Vec<u8>> = tokens.iter().map(|token| digest(&token.secret).to_vec()).collect();
        let roles: Vec<String> = tokens.iter().map(|token| token.role.as_str().to_owned()).collect();
        let owners: Vec<String> = tokens.into_iter().map(|token| token.owner).collect();
        transaction!(self, Wait::Singly, |tx| {
            self.query(
                "INSERT INTO api_tokens (digest, owner, role) SELECT * FROM unnest($1::bytea[], $2::text[], $3::text[]) \
                 ORDER BY 1 ON CONFLICT (digest) DO UPDATE SET owner = excluded.owner, role = excluded.role",
            )
            .bind(&digests)
            .bind(&owners)
            .bind(&roles)
            .execute(tx)
            .await?;
        })
    }

    /// Whom a token stands for.
    pub(crate) async fn token(&self, digest: &[u8; 32]) -> Result<Option<(String, Principal)>, StoreError> {
        transaction!(self, Wait::Singly, |tx| {
            let row = self
                .query("SELECT owner, role FROM api_tokens WHERE digest = $1")
                .bind(&digest[..])
                .fetch_optional(tx)
                .await?;
            row.map(|row| {
                let role = match row.try_get::<&str, _>("role")? {
                    "operator" => Principal::Operator,
                    _ => Principal::User,
                };
                Ok::<_, StoreError>((row.try_get("owner")?, role))
            })
            .transpose()?
        })
    }
}
