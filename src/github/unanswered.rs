//! Classifies errors of the HTTP library: whether the request may have been received.

use super::GithubError;
use super::client::Effect;

/// Classifies an error. Only if no connection was made, GitHub cannot have received the request. `text` must not have the token.
pub fn classify(error: &ureq::Error, effect: Effect, text: String) -> GithubError {
    if is_untrusted(error) {
        return GithubError::Untrusted(text);
    }
    match (is_unsent(error), effect) {
        (false, Effect::Create) => GithubError::Ambiguous(text),
        _ => GithubError::Unreachable(text),
    }
}

fn is_unsent(error: &ureq::Error) -> bool {
    match error {
        ureq::Error::HostNotFound | ureq::Error::ConnectionFailed | ureq::Error::InvalidProxyUrl => true,
        ureq::Error::Timeout(timeout) => matches!(timeout, ureq::Timeout::Connect | ureq::Timeout::Resolve),
        ureq::Error::Io(error) => error.kind() == std::io::ErrorKind::ConnectionRefused,
        ureq::Error::Tls(_) | ureq::Error::Rustls(_) => true,
        _ => false,
    }
}

/// Whether the TLS handshake failed because of the server's certificate. The error may be inside an I/O error.
fn is_untrusted(error: &ureq::Error) -> bool {
    let tls = match error {
        ureq::Error::Rustls(error) => Some(error),
        ureq::Error::Io(error) => error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()),
        _ => None,
    };
    matches!(tls, Some(rustls::Error::InvalidCertificate(_) | rustls::Error::NoCertificatesPresented))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(error: &ureq::Error, effect: Effect) -> GithubError {
        classify(error, effect, String::new())
    }

    #[test]
    fn a_certificate_that_nobody_knows_is_told_apart_however_it_is_wrapped() {
        let unknown = || rustls::Error::InvalidCertificate(rustls::CertificateError::UnknownIssuer);
        for error in [ureq::Error::Rustls(unknown()), ureq::Error::Io(std::io::Error::other(unknown()))] {
            assert!(matches!(of(&error, Effect::Create), GithubError::Untrusted(_)), "{error}");
        }
        let other = ureq::Error::Io(std::io::Error::other("certificate"));
        assert!(matches!(of(&other, Effect::Read), GithubError::Unreachable(_)));
    }

    #[test]
    fn what_was_sent_may_have_been_done_and_what_was_not_sent_was_not() {
        let late = |timeout| ureq::Error::Timeout(timeout);
        assert!(matches!(of(&late(ureq::Timeout::Connect), Effect::Create), GithubError::Unreachable(_)));
        assert!(matches!(of(&late(ureq::Timeout::Resolve), Effect::Create), GithubError::Unreachable(_)));
        assert!(matches!(of(&late(ureq::Timeout::RecvResponse), Effect::Create), GithubError::Ambiguous(_)));
        assert!(matches!(of(&late(ureq::Timeout::RecvResponse), Effect::Read), GithubError::Unreachable(_)));
    }
}
