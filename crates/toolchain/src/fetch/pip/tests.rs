use super::*;

#[cfg(unix)]
#[track_caller]
fn check(said: &str, expected: impl Fn(&FetchError) -> bool, parts: &[&str]) {
    use std::os::unix::process::ExitStatusExt as _;
    let error = diagnose(said, ExitStatus::from_raw(1 << 8), Path::new("/cache/staging"));
    assert!(expected(&error), "{error:?}");
    let message = error.to_string();
    for part in parts {
        assert!(message.contains(part), "{part:?} is missing in\n{message}");
    }
}

/// pip's own words, as recorded from pip 23 and 25.
#[cfg(unix)]
#[test]
fn pip_s_words_are_sorted_by_what_to_do() {
    const NONE: &str = "ERROR: Could not find a version that satisfies the requirement nvidia-cuda-nvrtc==13.0.88 (from versions: none)\n\
                        ERROR: No matching distribution found for nvidia-cuda-nvrtc==13.0.88\n";
    const RETRY: &str = "WARNING: Retrying (Retry(total=0, connect=None, read=None, redirect=None, status=None)) after connection broken by ";
    check(
        &format!(
            "{RETRY}'NewConnectionError('<pip._vendor.urllib3.connection.HTTPConnection object at 0x7fd4>: Failed to establish a new connection: [Errno 111] Connection refused')': /simple/nvidia-cuda-nvrtc/\n{NONE}"
        ),
        |error| matches!(error, FetchError::NoNetwork { .. }),
        &[
            "could not be reached: Failed to establish a new connection: [Errno 111] Connection refused\n",
            "HTTPS_PROXY",
        ],
    );
    check(
        &format!(
            "{RETRY}'SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: self-signed certificate in certificate chain'))': /simple/\n{NONE}"
        ),
        |error| matches!(error, FetchError::Certificate { .. }),
        &["self-signed", "PIP_CERT"],
    );
    check(NONE, |error| matches!(error, FetchError::NotOnIndex { .. }), &["No matching distribution", "PIP_INDEX_URL"]);
    check(
        "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE. If you have updated the package versions, please update the hashes.\n    \
         nvidia-cuda-crt==13.0.88 from https://files.example.org/x.whl (from -r requirements.txt (line 1)):\n        \
         Expected sha256 00\n             Got        2c\n",
        |error| matches!(error, FetchError::WrongHash { .. }),
        &["nvidia-cuda-crt==13.0.88", "Expected sha256 00", "Got        2c"],
    );
    check(
        "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device\n",
        |error| matches!(error, FetchError::DiskFull { .. }),
        &["no space left at /cache;", "FUSION_CACHE_DIR"],
    );
    check(
        "/usr/bin/python3: No module named pip\n",
        |error| matches!(error, FetchError::NoPip { .. }),
        &["python3-pip"],
    );
    check(
        "Traceback:\nSomething: else\n",
        |error| matches!(error, FetchError::Pip { .. }),
        &["exit status: 1", "Something: else"],
    );
    check("", |error| matches!(error, FetchError::Pip { .. }), &["(nothing)"]);
}
