import { type Act, type Acts, type Hand, onRow, type Row } from './hand.ts';

/** An initiative, made where there is none. */
async function initiative(hand: Hand): Promise<Row | undefined> {
  const found = await hand.row('cards', `type = 'Initiative'`);
  if (!found) await hand.send('POST', '/cards', { type: 'Initiative', name: hand.name('Initiative') });
  return found ?? (await hand.row('cards', `type = 'Initiative'`));
}
const on = async (hand: Hand, what: string, body: object): Promise<void> => {
  const card = await initiative(hand);
  if (card) await hand.send('POST', `/ppm/initiatives/${card.id}/${what}`, body);
};
const person = (hand: Hand) => (hand.chance(0.6) ? hand.one(hand.people) : null);
const day = (hand: Hand) => `2026-03-${String(1 + hand.below(28)).padStart(2, '0')}`;

const begin: Act = (hand) =>
  hand.send('POST', '/cards', {
    type: 'Initiative',
    name: hand.name('Initiative'),
    attributes: hand.chance(0.5) ? { costActual: 5, costBudget: 6 } : {},
  });
const spend: Act = (hand) =>
  on(hand, 'costs', { description: hand.name('Line'), category: 'opex', actual: hand.below(50), planned: 3 });
const allow: Act = (hand) =>
  on(hand, 'budgets', { fiscal_year: 2026, category: 'capex', amount: hand.below(3) });
const tell: Act = (hand) => on(hand, 'reports', { report_date: day(hand), summary: hand.name('Report') });
const fear: Act = (hand) => on(hand, 'risks', { title: hand.name('Risk'), owner_id: person(hand) });

/** Something below an item of the same initiative. */
async function below(hand: Hand, what: 'tasks' | 'wbs', field: string, body: object): Promise<void> {
  const item = hand.chance(0.7) ? await hand.row('ppm_wbs') : undefined;
  const card = item?.card_id ?? (await initiative(hand))?.id;
  if (card)
    await hand.send('POST', `/ppm/initiatives/${card}/${what}`, { ...body, [field]: item?.id ?? null });
}
const breakDown: Act = (hand) =>
  below(hand, 'wbs', 'parent_id', {
    title: hand.name('Item'),
    completion: hand.below(101),
    assignee_id: person(hand),
  });
const assign: Act = (hand) =>
  below(hand, 'tasks', 'wbs_id', {
    title: hand.name('Task'),
    assignee_id: person(hand),
    due_date: day(hand),
  });
const depend: Act = async (hand) => {
  const ends = hand.some([...(await hand.rows('ppm_tasks')), ...(await hand.rows('ppm_wbs'))], 6);
  const [pred, succ] = [hand.one(ends), hand.one(ends)];
  if (!pred || !succ) return;
  await hand.send('POST', `/ppm/initiatives/${pred.card_id}/dependencies`, {
    pred_kind: 'wbs_id' in pred ? 'task' : 'wbs',
    pred_id: pred.id,
    succ_kind: 'wbs_id' in succ ? 'task' : 'wbs',
    succ_id: succ.id,
  });
};

/** How a row of a table is changed. */
const patches: Record<string, [path: string, values: (hand: Hand) => object | Promise<object>]> = {
  ppm_cost_lines: ['costs', (hand) => ({ actual: hand.below(9) })],
  ppm_budget_lines: ['budgets', (hand) => ({ amount: hand.below(9) })],
  ppm_reports: ['reports', () => ({ cost_health: 'atRisk', summary: null })],
  ppm_risks: ['risks', () => ({ status: 'accepted', impact: 5 })],
  ppm_task_comments: ['task-comments', (hand) => ({ content: hand.name('Said') })],
  ppm_tasks: [
    'tasks',
    async (hand) => ({
      status: hand.one(['done', 'todo', 'blocked']),
      assignee_id: person(hand),
      wbs_id: (await hand.row('ppm_wbs'))?.id ?? null,
    }),
  ],
  ppm_wbs: [
    'wbs',
    async (hand) => ({ parent_id: (await hand.row('ppm_wbs'))?.id ?? null, end_date: day(hand) }),
  ],
};
const change: Act = async (hand) => {
  const table = hand.one(Object.keys(patches));
  const found = await hand.row(table);
  const [path, values] = patches[table]!;
  if (found) await hand.send('PATCH', `/ppm/${path}/${found.id}`, await values(hand));
};
const remove: Act = async (hand) => {
  const table = hand.one([...Object.keys(patches), 'ppm_dependencies']);
  const found = await hand.row(table);
  if (found) await hand.send('DELETE', `/ppm/${patches[table]?.[0] ?? 'dependencies'}/${found.id}`);
};

/** Writes of project portfolio management. */
export const ppmActs: Acts = [
  [begin, 1],
  [spend, 2],
  [allow, 1],
  [tell, 1],
  [fear, 1],
  [breakDown, 3],
  [assign, 3],
  [depend, 2],
  [
    onRow('ppm_tasks', (task, hand) => [
      'POST',
      `/ppm/tasks/${task.id}/comments`,
      { content: hand.name('Said') },
    ]),
    1,
  ],
  [change, 4],
  [remove, 2],
];
