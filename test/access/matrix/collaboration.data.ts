import { randomUUID } from 'node:crypto';
import { postFile } from '../../support/forms.ts';
import { formOf, onCard, onNew, type Row, row } from '../matrix.row.ts';
import { made, type World } from '../world.ts';

/** Makes something on a new card. @returns its id. */
const onNewCard = async (w: World, what: string, body: object): Promise<string> =>
  (await made(w, `/cards/${await w.card()}/${what}`, body)).id;

const note = formOf({ filename: 'note.txt', content: 'A note.' });

async function file(w: World): Promise<string> {
  const url = `/api/v1/cards/${await w.card()}/file-attachments`;
  const { body } = await postFile(await w.client('admin'), url, 'note.txt', 'A note.');
  return body.id;
}

const stakeholder = async (w: World) => ({
  path: { id: await onNewCard(w, 'stakeholders', { user_id: await w.user(), role: 'responsible' }) },
});
const comment = async (w: World) => ({ path: { id: await onNewCard(w, 'comments', { content: 'Said.' }) } });
const document = async (w: World) => ({ path: { id: await onNewCard(w, 'documents', { name: 'Linked' }) } });
const todo = async (w: World) => ({ path: { id: await onNewCard(w, 'todos', { description: 'Do it' }) } });

/** Who may say, attach and assign what on a card of somebody else. */
export const collaborationRows: Row[] = [
  // operation                                                      A B M V I P 0
  row('GET /stakeholder-roles', '+ + + + + + 0'),
  row('GET /stakeholder-roles/permissions-schema', '+ + + + + + 0'),
  // the integrator does not hold stakeholders.view
  row('GET /cards/{id}/stakeholders', '+ + + + - - 0', onCard),
  row('POST /cards/{id}/stakeholders', '+ + + - - - 0', onCard, async (w) => ({
    user_id: await w.user(),
    role: 'responsible',
  })),
  row('PATCH /stakeholders/{id}', '+ + + - - - 0', stakeholder, { role: 'observer' }),
  row('DELETE /stakeholders/{id}', '+ + + - - - 0', stakeholder),
  row('GET /cards/{id}/me/observe', '+ + + + + - 0', onCard),
  row('POST /cards/{id}/me/observe', '+ + + + + - 0', onCard),
  row('DELETE /cards/{id}/me/observe', '+ + + + + - 0', onCard),

  row('GET /cards/{id}/comments', '+ + + + - - 0', onCard),
  row('POST /cards/{id}/comments', '+ + + - - - 0', onCard, { content: 'Said.' }),
  row('PATCH /comments/{id}', '+ + - - - - 0', comment, { content: 'Said otherwise.' }),
  row('DELETE /comments/{id}', '+ + - - - - 0', comment),

  row('GET /todos', '+ + + + + + 0'),
  row('GET /home', '+ + + + + + 0'),
  row("GET /todos (everybody's)", '+ - - - - - 0', () => ({ query: 'mine=false' })),
  row("GET /todos (another's)", '+ - - - - - 0', () => ({ query: `assigned_to=${randomUUID()}` })),
  row('POST /todos', '+ + + + + + 0', () => ({ body: { description: 'Do it' } })),
  row('POST /todos (for another)', '+ + + + + - 0', async (w) => ({
    body: { description: 'Do it', assigned_to: await w.user() },
  })),
  row('GET /cards/{id}/todos', '+ + + + + - 0', onCard),
  row('POST /cards/{id}/todos', '+ + + + + - 0', onCard, { description: 'Do it' }),
  // the administrator made it; the participant does not see its card, and so not that it is there
  row('PATCH /todos/{id}', '+ - - - - ? 0', todo, { status: 'done' }),
  row('POST /todos/{id}/promote', '+ - - - - ? 0', todo),
  row('DELETE /todos/{id}', '+ - - - - ? 0', todo),

  row('GET /events/my-cards', '+ + + + + + 0'),

  row('GET /cards/{id}/documents', '+ + + + - - 0', onCard),
  row('POST /cards/{id}/documents', '+ + + - - - 0', onCard, {
    name: 'Linked',
    url: 'https://wiki.example.com/',
  }),
  row('PATCH /documents/{id}', '+ + + - - - 0', document, { name: 'Renamed' }),
  row('DELETE /documents/{id}', '+ + + - - - 0', document),

  row('GET /cards/{id}/file-attachments', '+ + + + - - 0', onCard),
  row('POST /cards/{id}/file-attachments', '+ + + - - - 0', async (w) => ({
    ...(await onCard(w)),
    ...note,
  })),
  row('GET /file-attachments/{id}/download', '+ + + + - - 0', onNew('id', file)),
  row('POST /file-attachments/{id}/ticket', '+ + + + - - 0', onNew('id', file)),
  row('PATCH /file-attachments/{id}', '+ + + - - - 0', onNew('id', file), { category: null }),
  row('DELETE /file-attachments/{id}', '+ + + - - - 0', onNew('id', file)),
];
