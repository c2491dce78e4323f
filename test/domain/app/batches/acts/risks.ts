import { type Act, type Acts, type Hand, onRow, patches } from './hand.ts';

const TASKS = 'risk_mitigation_tasks';
const statuses = ['analysed', 'mitigation_planned', 'in_progress', 'mitigated', 'monitoring', 'closed'];

const owner = (hand: Hand) => (hand.chance(0.5) ? { owner_id: hand.one(hand.people) } : {});

const write: Act = async (hand) => {
  const cards = hand.some(await hand.rows('cards'), 3).map(({ id }) => id);
  await hand.send('POST', '/risks', {
    title: hand.name('Risk'),
    category: hand.one(['security', 'financial']),
    card_ids: cards,
    ...owner(hand),
  });
};
const edit = patches('risks', '/risks', (hand) =>
  hand.one<object>([
    { residual_probability: 'low', residual_impact: 'low' },
    { description: hand.name('Said'), target_resolution_date: '2031-05-01' },
    { owner_id: null },
    owner(hand),
  ]),
);
const move = patches('risks', '/risks', (hand) =>
  hand.chance(0.3) ? { status: 'accepted', acceptance_rationale: 'Small.' } : { status: hand.one(statuses) },
);
const link: Act = async (hand) => {
  const risk = await hand.row('risks');
  const cards = hand.some(await hand.rows('cards'), 2).map(({ id }) => id);
  if (!risk || cards.length === 0) return;
  await hand.send('POST', `/risks/${risk.id}/cards`, {
    card_ids: cards,
    role: hand.one(['affected', 'contributing']),
  });
};
const load: Act = async (hand) => {
  const items = [1, 2, 3].map((row_index) => ({
    row_index,
    title: hand.name('Loaded'),
    status: hand.one(['identified', 'accepted']),
  }));
  await hand.send('POST', '/risks/bulk-import', { items });
};
const task: Act = async (hand) => {
  const risk = await hand.row('risks');
  if (!risk) return;
  await hand.send('POST', `/risks/${risk.id}/mitigation-tasks`, {
    title: hand.name('Task'),
    recurrence_unit: hand.one(['none', 'weeks', 'months']),
    ...(hand.chance(0.5) ? { due_date: hand.one(['2026-01-31', '2090-01-31']) } : {}),
    ...owner(hand),
  });
};
const editTask = patches(TASKS, '/mitigation-tasks', (hand) =>
  hand.one<object>([
    { is_active: false },
    { is_active: true, recurrence_unit: 'days' },
    { due_date: '2026-02-28' },
    owner(hand),
  ]),
);
const end: Act = async (hand) => {
  const row = await hand.row('risk_mitigation_occurrences', `status in ('open', 'scheduled')`);
  if (!row) return;
  const act = row.status === 'open' ? hand.one(['complete', 'skip']) : 'promote';
  await hand.send('POST', `/mitigation-tasks/${row.task_id}/occurrences/${row.id}/${act}`);
};
const remove: Act = async (hand) => {
  const what = hand.one(['risks', TASKS]);
  const row = await hand.row(what);
  if (row) await hand.send('DELETE', `/${what === TASKS ? 'mitigation-tasks' : 'risks'}/${row.id}`);
};

/** Writes of the risk register. */
export const riskActs: Acts = [
  [write, 4],
  [edit, 2],
  [move, 4],
  [
    onRow('compliance_findings', (finding, hand) => [
      'POST',
      `/risks/promote/compliance/${finding.id}`,
      owner(hand),
    ]),
    2,
  ],
  [link, 2],
  [onRow('risk_cards', (linked) => ['DELETE', `/risks/${linked.risk_id}/cards/${linked.card_id}`]), 1],
  [load, 1],
  [task, 3],
  [editTask, 2],
  [end, 3],
  [remove, 1],
];
