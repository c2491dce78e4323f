/**
 * Why a mail was not accepted: `refused` permanently, `temporary` (including no connection and wrong password), or
 * `unconfirmed` if it was sent completely and no response was received.
 */
export class SmtpFailure extends Error {
  readonly kind: 'refused' | 'temporary' | 'unconfirmed';
  constructor(kind: SmtpFailure['kind'], message: string, cause?: unknown) {
    super(message, { cause });
    this.kind = kind;
  }
}
