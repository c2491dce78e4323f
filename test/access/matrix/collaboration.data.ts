import { randomUUID } from 'node:crypto';
import { type Call, onCard, type Row, row } from '../matrix.row.ts';
import type { World } from '../world.ts';

/** Makes something on a new card as the administrator and answers its id. */
async function made(w: World, what: string, body: Record<string, unknown>): Promise<string> {
  const admin = await w.client('admin');
  const answer = await admin.post(`/api/v1/cards/${await w.card()}/${what}`, body);
  if (answer.status !== 201) throw new Error(`${what} answered ${answer.status}: ${answer.text}`);
  return answer.body.id;
}

const boundary = 'a-boundary-that-occurs-nowhere';
/** A form with one file, as a client sends it. */
const form: Pick<Call, 'raw'> = {
  raw: {
    mediaType: `multipart/form-data; boundary=${boundary}`,
    text: `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="note.txt"\r\n\r\nA note.\r\n--${boundary}--\r\n`,
  },
};

async function file(w: World): Promise<string> {
  const admin = await w.client('admin');
  const answer = await admin.request({
    method: 'POST',
    url: `/api/v1/cards/${await w.card()}/file-attachments`,
    headers: { 'content-type': form.raw!.mediaType },
    payload: form.raw!.text,
  });
  if (answer.status !== 201) throw new Error(`the upload answered ${answer.status}: ${answer.text}`);
  return answer.body.id;
}

const stakeholder = async (w: World) => ({
  path: { id: await made(w, 'stakeholders', { user_id: await w.user(), role: 'responsible' }) },
});
const comment = async (w: World) => ({ path: { id: await made(w, 'comments', { content: 'Said.' }) } });
const document = async (w: World) => ({ path: { id: await made(w, 'documents', { name: 'Linked' }) } });
const todo = async (w: World) => ({ path: { id: await made(w, 'todos', { description: 'Do it' }) } });

/** Who may say, attach and assign what on a card of somebody else. */
export const collaborationRows: Row[] = [
  // operation                                                      A B M V I P 0
  row('GET /api/v1/stakeholder-roles', '+ + + + + + 0'),
  row('GET /api/v1/stakeholder-roles/permissions-schema', '+ + + + + + 0'),
  // the integrator does not hold stakeholders.view
  row('GET /api/v1/cards/{id}/stakeholders', '+ + + + - - 0', onCard),
  row('POST /api/v1/cards/{id}/stakeholders', '+ + + - - - 0', async (w) => ({
    ...(await onCard(w)),
    body: { user_id: await w.user(), role: 'responsible' },
  })),
  row('PATCH /api/v1/stakeholders/{id}', '+ + + - - - 0', async (w) => ({
    ...(await stakeholder(w)),
    body: { role: 'observer' },
  })),
  row('DELETE /api/v1/stakeholders/{id}', '+ + + - - - 0', stakeholder),
  row('GET /api/v1/cards/{id}/me/observe', '+ + + + + - 0', onCard),
  row('POST /api/v1/cards/{id}/me/observe', '+ + + + + - 0', onCard),
  row('DELETE /api/v1/cards/{id}/me/observe', '+ + + + + - 0', onCard),

  row('GET /api/v1/cards/{id}/comments', '+ + + + - - 0', onCard),
  row('POST /api/v1/cards/{id}/comments', '+ + + - - - 0', async (w) => ({
    ...(await onCard(w)),
    body: { content: 'Said.' },
  })),
  row('PATCH /api/v1/comments/{id}', '+ + - - - - 0', async (w) => ({
    ...(await comment(w)),
    body: { content: 'Said otherwise.' },
  })),
  row('DELETE /api/v1/comments/{id}', '+ + - - - - 0', comment),

  row('GET /api/v1/todos', '+ + + + + + 0'),
  row("GET /api/v1/todos (everybody's)", '+ - - - - - 0', () => ({ query: 'mine=false' })),
  row("GET /api/v1/todos (another's)", '+ - - - - - 0', () => ({ query: `assigned_to=${randomUUID()}` })),
  row('GET /api/v1/cards/{id}/todos', '+ + + + + - 0', onCard),
  row('POST /api/v1/cards/{id}/todos', '+ + + + + - 0', async (w) => ({
    ...(await onCard(w)),
    body: { description: 'Do it' },
  })),
  // the administrator made it; the participant does not see its card, and so not that it is there
  row('PATCH /api/v1/todos/{id}', '+ - - - - ? 0', async (w) => ({
    ...(await todo(w)),
    body: { status: 'done' },
  })),
  row('POST /api/v1/todos/{id}/promote', '+ - - - - ? 0', todo),
  row('DELETE /api/v1/todos/{id}', '+ - - - - ? 0', todo),

  row('GET /api/v1/events/my-cards', '+ + + + + + 0'),

  row('GET /api/v1/cards/{id}/documents', '+ + + + - - 0', onCard),
  row('POST /api/v1/cards/{id}/documents', '+ + + - - - 0', async (w) => ({
    ...(await onCard(w)),
    body: { name: 'Linked', url: 'https://wiki.example.com/' },
  })),
  row('DELETE /api/v1/documents/{id}', '+ + + - - - 0', document),

  row('GET /api/v1/cards/{id}/file-attachments', '+ + + + - - 0', onCard),
  row('POST /api/v1/cards/{id}/file-attachments', '+ + + - - - 0', async (w) => ({
    ...(await onCard(w)),
    ...form,
  })),
  row('GET /api/v1/file-attachments/{id}/download', '+ + + + - - 0', async (w) => ({
    path: { id: await file(w) },
  })),
  row('DELETE /api/v1/file-attachments/{id}', '+ + + - - - 0', async (w) => ({
    path: { id: await file(w) },
  })),
];
