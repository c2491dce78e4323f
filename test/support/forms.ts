import type { TestClient, TestResponse } from './harness.ts';

/** A field of a form, or a file where it has a file name. */
export type Part = { name?: string; filename?: string; type?: string; content: Buffer | string };

const boundary = 'boundary-of-the-test';

/** A form as a client sends it. */
export function form(...parts: Part[]): { headers: { 'content-type': string }; payload: Buffer } {
  const pieces = parts.flatMap(({ name = 'file', filename, type, content }) => {
    const file = filename === undefined ? '' : `; filename="${filename}"`;
    const head = `--${boundary}\r\ncontent-disposition: form-data; name="${name}"${file}\r\n`;
    return [head, type === undefined ? '\r\n' : `content-type: ${type}\r\n\r\n`, content, '\r\n'];
  });
  return {
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
    payload: Buffer.concat([...pieces, `--${boundary}--\r\n`].map((piece) => Buffer.from(piece))),
  };
}

/** Sends a form with one file. */
export const postFile = (
  client: TestClient,
  url: string,
  filename: string,
  content: Buffer | string,
): Promise<TestResponse> => client.request({ method: 'POST', url, ...form({ filename, content }) });
