/** A failure at start that the user can mend: its message is one sentence that says what to do. */
export class StartupError extends Error {
  override readonly name = 'StartupError';
}

/** The sentence for an error of the file system or of PostgreSQL, where it is one that the user can mend. */
export function startupMessage(error: unknown): string | undefined {
  if (error instanceof StartupError) return error.message;
  if (!(error instanceof Error)) return undefined;
  const { code, path } = error as NodeJS.ErrnoException;
  const where = path ?? 'the data folder';
  switch (code) {
    case 'ENOSPC':
      return `The disk of ${where} is full: free some space or choose another folder with DATA_DIR.`;
    case 'EDQUOT':
      return `The disk quota for ${where} is used up: free some space or choose another folder with DATA_DIR.`;
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return `${where} may not be written by this user: give the right or choose another folder with DATA_DIR.`;
    case 'ENOTDIR':
    case 'EEXIST':
      return `${where} is a file where a folder is needed: choose another folder with DATA_DIR.`;
    case 'ELOOP':
    case 'ENAMETOOLONG':
      return `${where} is no usable path: choose another folder with DATA_DIR.`;
    case 'EMFILE':
    case 'ENFILE':
      return 'This user may not open more files: raise the limit (ulimit -n).';
    case 'ECONNREFUSED':
    case 'ENOTFOUND':
    case 'ETIMEDOUT':
      return 'The database does not answer: check DATABASE_URL and that the server runs.';
    case '28P01':
    case '28000':
      return 'The database refuses the login: check user and password in DATABASE_URL.';
    case '3D000':
      return 'The database named in DATABASE_URL does not exist: create it first.';
    case '42501':
      return 'The database user lacks a right (it must be able to create tables and the extensions unaccent and pg_trgm): grant it.';
    case '53100':
      return "The database's disk is full: free some space.";
    case '53300':
      return 'The database has no connection to spare: end some of its other clients or raise its max_connections.';
    default:
      return undefined;
  }
}

/**
 * Ends the process after a failed start: one sentence where the user can help, else the whole error. What the
 * start had opened is left by the handlers of the process's exit.
 */
export function failStartup(error: unknown): never {
  const sentence = startupMessage(error);
  process.stderr.write(
    `${sentence ?? `Estate could not start: ${(error as Error)?.stack ?? String(error)}`}\n`,
  );
  process.exit(1);
}
