import { expect, it } from 'vitest';
import { openApp, type TestAnswer, type TestClient } from '../../support/harness.ts';
import { card, make } from '../cards/write.fixture.ts';

const { t, db, admin } = await openApp(['admin']);
const users = await Promise.all(['a', 'b', 'c', 'd'].map((name) => t.as('member', name)));

const form = 'multipart/form-data; boundary=x';
const upload = (client: TestClient, id: string) =>
  client.request({
    method: 'POST',
    url: card(id, '/file-attachments'),
    headers: { 'content-type': form },
    payload: '--x\r\ncontent-disposition: form-data; name="file"; filename="a.txt"\r\n\r\ntext\r\n--x--\r\n',
  });

/** Everything that may be attached to a card, by everybody at once. */
const attach = (id: string): Promise<TestAnswer>[] =>
  users.flatMap((client, n) => [
    client.post(card(id, '/stakeholders'), { user_id: client.userId, role: 'responsible' }),
    client.post(card(id, '/me/observe')),
    client.post(card(id, '/comments'), { content: `${n}` }),
    client.post(card(id, '/todos'), { description: `${n}` }),
    client.post(card(id, '/documents'), { name: `${n}` }),
    upload(client, id),
    client.patch(card(id), { description: `${n}` }),
  ]);

it('everybody attaches at once, and nothing is lost', async () => {
  const app = await make(admin);
  const answers = await Promise.all(attach(app.id));
  expect(answers.map(({ status }) => status).filter((status) => status !== 201 && status !== 200)).toEqual(
    [],
  );
  for (const [what, n] of Object.entries({
    stakeholders: 8,
    comments: 4,
    todos: 4,
    documents: 4,
    'file-attachments': 4,
  })) {
    expect((await admin.get(card(app.id, `/${what}`))).body.total, what).toBe(n);
  }
});

it('what is attached while the card is deleted goes with it, or is refused', async () => {
  for (let round = 0; round < 4; round += 1) {
    const app = await make(admin);
    const [gone, ...answers] = await Promise.all([
      new Promise((resolve) => setImmediate(resolve)).then(() => admin.delete(card(app.id))),
      ...attach(app.id),
    ]);
    expect(gone!.status).toBe(200);
    for (const { status, text } of answers) expect([200, 201, 404], text).toContain(status);
    const events = await db('events').where({ card_id: app.id }).orderBy('position');
    const count = (types: string[]) => events.filter(({ event_type }) => types.includes(event_type)).length;
    const pairs = [
      ['stakeholder.added', 'stakeholder.removed'],
      ['comment.created', 'comment.deleted'],
      ['todo.created', 'todo.deleted'],
      ['document.added', 'document.removed'],
      ['file.uploaded', 'file.deleted'],
      ['card.created', 'card.deleted'],
    ] as const;
    for (const [made, ended] of pairs) expect(count([ended]), ended).toBe(count([made]));
    expect(events.at(-1)!.event_type).toBe('card.deleted');
    const left = await db('files')
      .whereNull('expires_at')
      .whereNotIn('id', db('file_attachments').select('file_id'));
    expect(left).toEqual([]);
  }
});
