import { randomUUID } from 'node:crypto';
import { postFile } from '../../support/forms.ts';
import { expectProblem, ok, openApp } from '../../support/harness.ts';

const { t, sql, admin, viewer } = await openApp(['admin', 'viewer']);

const card = await admin.create('/api/v1/cards', { type: 'Application', name: 'Filed' });
const attach = async (text: string) =>
  (await postFile(admin, `/api/v1/cards/${card.id}/file-attachments`, 'note.txt', text)).body.id as string;
const [file, other] = [await attach('A note.'), await attach('Another.')];
const url = (id: string) => `/api/v1/file-attachments/${id}`;
const ticketFor = async (id: string, client = viewer) =>
  (await client.create(`${url(id)}/ticket`)).ticket as string;
const download = (id: string, ticket: string) => t.anonymous.get(`${url(id)}/download?ticket=${ticket}`);

describe('a ticket', () => {
  it('downloads its file once without a header', async () => {
    const ticket = await ticketFor(file);
    const { status, text } = await download(file, ticket);
    expect([status, text]).toEqual([200, 'A note.']);
    await expectProblem(download(file, ticket), 401);
  });

  it('opens no other file, no stream, and does not stay for another attempt', async () => {
    const ticket = await ticketFor(file);
    await expectProblem(download(other, ticket), 401);
    await expectProblem(download(file, ticket), 401);
    const { ticket: stream } = await viewer.create('/api/v1/events/ticket');
    await expectProblem(download(file, stream as string), 401);
    await expectProblem(t.anonymous.get(`/api/v1/cards?ticket=${await ticketFor(file)}`), 401);
    await expectProblem(t.anonymous.get(`/api/v1/events/stream?ticket=${await ticketFor(file)}`), 401);
  });

  it('expires after 30 seconds', async () => {
    const ticket = await ticketFor(file);
    await sql.run`update one_time_tokens set expires_at = expires_at - interval '30 seconds'`;
    await expectProblem(download(file, ticket), 401);
  });

  it('gives no more than its holder may do then', async () => {
    const client = await t.holding('inventory.view', 'documents.view');
    const ticket = await ticketFor(file, client);
    await ok(admin.patch(`/api/v1/users/${client.userId}`, { is_active: false }));
    await expectProblem(download(file, ticket), 401);
  });

  it('is only given to those who may download the file', async () => {
    await expectProblem(
      (await t.holding('inventory.view')).post(`${url(file)}/ticket`),
      403,
      'documents.view',
    );
    await expectProblem(viewer.post(`${url(randomUUID())}/ticket`), 404);
  });
});
