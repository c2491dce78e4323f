import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';
import { call, changesAfter, configure, createCard, followEvents, readMe } from 'estate-client';

const { ESTATE_URL: url, ESTATE_TOKEN: token } = process.env;
configure({ url, token });

// the stream sends frames from the connection on
const stopped = new AbortController();
const frames = followEvents({ events: ['card'], signal: stopped.signal });
const first = frames.next();
let frame;
for (let at = 0; frame === undefined; at += 1) {
  await call(createCard({ body: { type: 'Application', name: `Followed ${at}` } }));
  frame = await Promise.race([first, setTimeout(500)]);
}
assert.equal(frame.value.event, 'card.created');
assert.match(frame.value.id, /^\d+$/);
stopped.abort();
await assert.rejects(async () => {
  while (!(await frames.next()).done);
}, /abort/i);

const feed = changesAfter('0', { limit: 100 });
let count = 0;
let result = await feed.next();
for (; !result.done; result = await feed.next()) count += 1;
assert.ok(count > 300);
assert.match(result.value, /^\d+$/);

await assert.rejects(call(createCard({ body: { type: 'Application', name: '' } })), (error) => {
  assert.equal(error.status, 422);
  assert.equal(error.code, 'validation_failed');
  assert.equal(error.errors[0].field, 'name');
  assert.ok(error.requestId);
  return true;
});
configure({ url: 'http://127.0.0.1:9' });
await assert.rejects(call(readMe()), { status: 0, code: 'network' });
