import { randomUUID } from 'node:crypto';
import { onNew, type Row, row } from '../matrix.row.ts';
import { made, type World } from '../world.ts';
import { finding } from './compliance.data.ts';

const risk = async (w: World, more: object = {}): Promise<string> =>
  (await made(w, '/risks', { title: `Risk ${randomUUID()}`, ...more })).id;
const one = async (w: World) => ({ path: { risk_id: await risk(w) } });
const task = (w: World, riskId: string, more: object = {}) =>
  made(w, `/risks/${riskId}/mitigation-tasks`, { title: 'Task', ...more });
const oneTask = async (w: World) => ({ path: { task_id: (await task(w, await risk(w))).id } });
/** A finding that a risk tracks. */
const tracked = async (w: World): Promise<string> => {
  const finding_id = await finding(w);
  await made(w, `/risks/promote/compliance/${finding_id}`, {});
  return finding_id;
};
/** An occurrence, of nobody's unless told. */
const occurrence = async (w: World, more: object = {}) => {
  const { id, occurrences } = await task(w, await risk(w), more);
  return { path: { task_id: id, occurrence_id: occurrences[0].id } };
};

/** Whoever reads the inventory reads risks; members and those above write them. */
export const riskRows: Row[] = [
  row('GET /risks', '+ + + + - - 0'),
  row('GET /risks/metrics', '+ + + + - - 0'),
  row('GET /risks/{risk_id}', '+ + + + - - 0', one),
  row('GET /cards/{card_id}/risks', '+ + + + - - 0', async (w) => {
    const card_id = await w.card();
    await risk(w, { card_ids: [card_id] });
    return { path: { card_id } };
  }),
  row('POST /risks', '+ + + - - - 0', async (w) => ({
    body: { title: 'A risk', card_ids: [await w.card()] },
  })),
  row('PATCH /risks/{risk_id}', '+ + + - - - 0', one, { status: 'accepted', acceptance_rationale: 'Small.' }),
  row('DELETE /risks/{risk_id}', '+ + + - - - 0', one),
  row('POST /risks/bulk-import', '+ + + - - - 0', () => ({
    body: { items: [{ row_index: 1, title: `Risk ${randomUUID()}` }] },
  })),
  row('POST /risks/{risk_id}/cards', '+ + + - - - 0', one, async (w) => ({
    card_ids: [await w.card()],
    role: 'contributing',
  })),
  row('DELETE /risks/{risk_id}/cards/{card_id}', '+ + + - - - 0', async (w) => {
    const card_id = await w.card();
    return { path: { risk_id: await risk(w, { card_ids: [card_id] }), card_id } };
  }),
  row(
    'POST /risks/promote/compliance/{finding_id}',
    '+ + + - - - 0',
    onNew('finding_id', (w) => finding(w)),
    {
      category: 'security',
    },
  ),
  row(
    'PUT /compliance/findings/{finding_id}/risk',
    '+ + + - - - 0',
    onNew('finding_id', (w) => finding(w)),
    async (w) => ({ risk_id: await risk(w) }),
  ),
  row('DELETE /compliance/findings/{finding_id}/risk', '+ + + - - - 0', onNew('finding_id', tracked)),
  row('GET /risks/mitigation-tasks/export', '+ + + + - - 0'),
  row('GET /risks/{risk_id}/mitigation-tasks', '+ + + + - - 0', one),
  row('POST /risks/{risk_id}/mitigation-tasks', '+ + + - - - 0', one, {
    title: 'A task',
    recurrence_unit: 'months',
  }),
  row('PATCH /mitigation-tasks/{task_id}', '+ + + - - - 0', oneTask, { title: 'Another task' }),
  row('DELETE /mitigation-tasks/{task_id}', '+ + + - - - 0', oneTask),
  row('GET /mitigation-tasks/{task_id}/occurrences', '+ + + + - - 0', oneTask),
  row(
    'POST /mitigation-tasks/{task_id}/occurrences/{occurrence_id}/complete',
    '+ + + - - - 0',
    async (w) => ({ ...(await occurrence(w)), body: { notes: 'Done.' } }),
  ),
  row(
    'POST /mitigation-tasks/{task_id}/occurrences/{occurrence_id}/complete (own)',
    '+ + + + - - 0',
    async (w, role) => await occurrence(w, await ownedBy(w, role)),
  ),
  row(
    'POST /mitigation-tasks/{task_id}/occurrences/{occurrence_id}/skip',
    '+ + + - - - 0',
    async (w) => await occurrence(w),
  ),
  row(
    'POST /mitigation-tasks/{task_id}/occurrences/{occurrence_id}/skip (own)',
    '+ + + + - - 0',
    async (w, role) => await occurrence(w, await ownedBy(w, role)),
  ),
  row(
    'POST /mitigation-tasks/{task_id}/occurrences/{occurrence_id}/promote',
    '+ + + - - - 0',
    async (w) => await occurrence(w, { due_date: '2090-01-01' }),
  ),
];

const ownedBy = async (w: World, role: Parameters<Row['call']>[1]) =>
  role === 'anonymous' ? {} : { owner_id: (await w.client(role)).userId };
