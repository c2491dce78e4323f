import { once } from 'node:events';
import http, { type IncomingMessage } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { bodyLimits } from '../../../api/plugins/bodies.ts';
import { openApp } from '../../support/harness.ts';

const shipped = { ...bodyLimits };

Object.assign(bodyLimits, { windowMs: 600, windowBytes: 1_000, restMs: 1_000 });
const { t } = await openApp();
await t.app.listen({ port: 0, host: '127.0.0.1' });
const port = (t.app.server.address() as AddressInfo).port;

afterAll(() => Object.assign(bodyLimits, shipped));

const BOUNDARY = 'part-of-the-form';
const csv = 'type,name\n';
const form = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\nContent-Type: text/csv\r\n\r\n`;

/** Starts an import and sends some lines every 100 ms, as often as given. @returns the status, if there was an answer. */
async function upload(type: string, begin: string, end: string, times: number): Promise<number | undefined> {
  const { token } = await t.as('admin');
  const sent = http.request({
    port,
    host: '127.0.0.1',
    method: 'POST',
    path: '/api/v1/imports?kind=cards&dry_run=true',
    agent: false,
    headers: { authorization: `Bearer ${token}`, 'content-type': type },
  });
  const closed = once(sent, 'close');
  const answered = once(sent, 'response') as Promise<[IncomingMessage]>;
  // the connection may be closed while there is something to send
  answered.catch(() => undefined);
  sent.on('error', () => undefined);
  sent.write(begin);
  let left = times;
  const timer = setInterval(() => {
    left -= 1;
    if (left > 0) sent.write(`Application,${'x'.repeat(400)} ${left}\n`);
    else if (left === 0 && end !== '') sent.end(end.replace('none', ''));
  }, 100);
  const status = await Promise.race([
    answered.then(([answer]) => answer.statusCode),
    closed.then(() => undefined),
  ]);
  clearInterval(timer);
  sent.destroy();
  return status;
}

it.each([
  ['text/csv', csv, 'none'],
  [`multipart/form-data; boundary=${BOUNDARY}`, form + csv, `\r\n--${BOUNDARY}--\r\n`],
])(
  'an upload of %s takes as long as it makes progress, and is given up when it stops',
  async (type, begin, end) => {
    expect(await upload(type, begin, end, 20)).toBe(202);
    expect(await upload(type, begin, '', 3)).toBe(408);
  },
);

it.each([
  ['/api/v1/imports?kind=cards', 'text/csv', csv],
  ['/api/v1/imports?kind=cards', 'text/csv', ''],
  ['/api/v1/imports?kind=cards', `multipart/form-data; boundary=${BOUNDARY}`, form + csv],
  ['/api/v1/archimate/imports', 'application/xml', '<model '],
])(
  'the connection of an upload that stops is closed after its answer: %s, %s, %j',
  async (path, type, begin) => {
    const { token } = await t.as('admin');
    const socket = connect(port, '127.0.0.1');
    const closed = once(socket, 'close');
    let answer = '';
    socket.on('data', (chunk) => {
      answer += chunk;
    });
    socket.write(
      `POST ${path} HTTP/1.1\r\nHost: estate\r\nAuthorization: Bearer ${token}\r\n` +
        `Content-Type: ${type}\r\nContent-Length: 200000000\r\n\r\n${begin}`,
    );
    await closed;
    expect(answer).toMatch(/^HTTP\/1.1 408 /);
    expect(answer).toMatch(/^connection: close\r$/im);
  },
  20_000,
);
