//! AWS Signature Version 4.

use std::time::SystemTime;

use aws_credential_types::Credentials;
use aws_sigv4::http_request::{SignableBody, SignableRequest, SigningSettings, sign as sign_request};
use aws_sigv4::sign::v4;

use super::http::AwsKeys;

/// The headers that sign a POST of `body` to `url`.
pub(super) fn sign(
    keys: &AwsKeys,
    url: &str,
    headers: &[(String, String)],
    body: &[u8],
) -> Result<Vec<(String, String)>, String> {
    let credentials = Credentials::new(&keys.id, &keys.secret, keys.session.clone(), None, "onejob");
    let identity = credentials.into();
    let parameters = v4::SigningParams::builder()
        .identity(&identity)
        .region(&keys.region)
        .name("bedrock")
        .time(SystemTime::now())
        .settings(SigningSettings::default())
        .build()
        .map_err(|error| error.to_string())?
        .into();
    let headers = headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let request = SignableRequest::new("POST", url, headers, SignableBody::Bytes(body))
        .map_err(|error| error.to_string())?;
    let (instructions, _) =
        sign_request(request, &parameters).map_err(|error| error.to_string())?.into_parts();
    Ok(instructions.headers().map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signed_request_carries_key_id_region_service_and_date_and_never_the_secret() {
        let keys = AwsKeys {
            id: "AKIDEXAMPLE".into(),
            secret: "secret-of-the-key".into(),
            session: Some("session".into()),
            region: "eu-central-1".into(),
        };
        let signed =
            sign(&keys, "https://bedrock-runtime.eu-central-1.amazonaws.com/model/m/converse", &[], b"{}")
                .unwrap();
        let authorization = &signed.iter().find(|(name, _)| name == "authorization").unwrap().1;
        assert!(authorization.starts_with("AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/"), "{authorization}");
        assert!(authorization.contains("/eu-central-1/bedrock/aws4_request"));
        assert!(signed.iter().any(|(name, _)| name == "x-amz-date"));
        assert!(signed.iter().any(|(name, value)| name == "x-amz-security-token" && value == "session"));
        assert!(!format!("{signed:?}").contains("secret-of-the-key"));
    }
}
