import { failureText, type RemoteFailure, type Result } from './remote.failures.ts';

/** A call on a remote has failed in a way that ends what it was made for. */
export class RemoteFailed extends Error {
  readonly failure: RemoteFailure;

  constructor(failure: RemoteFailure) {
    super(failureText(failure));
    this.name = 'RemoteFailed';
    this.failure = failure;
  }
}

/** The value of a call that has to succeed. @throws RemoteFailed */
export async function asked<T>(call: Promise<Result<T>>): Promise<T> {
  const answer = await call;
  if (!answer.ok) throw new RemoteFailed(answer.failure);
  return answer.value;
}
