//! The files of sessions.

use super::{AT_MOST, Answer, BYTES, Operation, Parameter, READ, RUN, Route, get};
use http::Method;

const PATH: (&str, Parameter) = ("path", Parameter::Text("Where, from `/` on; the root if not said"));

pub(super) const ROUTES: &[Route] = &[
    Route {
        summary: "Reads a file of a session, byte for byte, or lists a folder; the `ETag` of a file is what `If-Match` names",
        query: &[
            PATH,
            ("format", Parameter::Text("bytes or json, for a file; bytes if not said")),
            AT_MOST,
            ("after", Parameter::After),
        ],
        ..get(
            "/v1/sessions/{session}/fs",
            READ,
            Operation::ReadFile,
            "readFile",
            Answer::File("FileOrFolder"),
        )
    },
    Route {
        method: &Method::PUT,
        audited: true,
        summary: "Writes a file and the folders above it; with `If-Match` only if nobody else has changed it, with `If-None-Match: *` only if nothing is there",
        query: &[PATH, ("readonly", Parameter::Flag("Whether it may not be changed from then on"))],
        body: Some(BYTES),
        ..get("/v1/sessions/{session}/fs", RUN, Operation::WriteFile, "writeFile", Answer::Json("File"))
    },
    Route {
        method: &Method::DELETE,
        audited: true,
        summary: "Deletes a file, or a folder: with `recursive`, all that is in it; with `If-Match` only if nobody else has changed it",
        query: &[PATH, ("recursive", Parameter::Flag("Whether a folder goes with all that is in it"))],
        ..get("/v1/sessions/{session}/fs", RUN, Operation::DeleteFile, "deleteFile", Answer::Json("Deleted"))
    },
    Route {
        summary: "Says what is known about a file or a folder",
        query: &[PATH],
        ..get("/v1/sessions/{session}/fs/stat", READ, Operation::StatFile, "statFile", Answer::Json("File"))
    },
    Route {
        method: &Method::POST,
        audited: true,
        summary: "Moves a file, or a folder with all that is in it, to where nothing is",
        body: Some("NewPlace"),
        ..get("/v1/sessions/{session}/fs/move", RUN, Operation::MoveFile, "moveFile", Answer::Json("File"))
    },
    Route {
        method: &Method::POST,
        audited: true,
        summary: "Copies a file, or a folder with all that is in it, to where nothing is",
        body: Some("NewPlace"),
        ..get("/v1/sessions/{session}/fs/copy", RUN, Operation::CopyFile, "copyFile", Answer::Json("File"))
    },
    Route {
        summary: "Searches the files of a session for a pattern",
        query: &[
            ("pattern", Parameter::Text("A regular expression")),
            ("path_pattern", Parameter::Text("Only files whose path fits, such as `*.txt`")),
        ],
        ..get(
            "/v1/sessions/{session}/fs/grep",
            READ,
            Operation::GrepFiles,
            "grepFiles",
            Answer::Json("Matches"),
        )
    },
];
