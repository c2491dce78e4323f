import type { Act } from './hand.ts';

const findings = '/compliance/findings';
const decisions = ['in_review', 'in_review', 'mitigated', 'verified', 'accepted', 'not_applicable'];

const write: Act = async (hand) => {
  const card = hand.chance(0.7) ? await hand.row('cards') : undefined;
  await hand.send('POST', findings, {
    regulation: hand.one(['gdpr', 'nis2']),
    requirement: hand.name('Requirement'),
    status: hand.one(['partial', 'compliant', 'non_compliant']),
    severity: hand.one(['low', 'high']),
    card_id: card?.id ?? null,
  });
};
const edit: Act = async (hand) => {
  const finding = await hand.row('compliance_findings');
  const values = hand.one<object>([{ severity: 'info' }, { evidence: 'Seen.', remediation: null }]);
  if (finding) await hand.send('PATCH', `${findings}/${finding.id}/details`, values);
};
const decide: Act = async (hand) => {
  const finding = await hand.row('compliance_findings');
  const decided = { decision: hand.one(decisions), review_note: 'Seen.' };
  if (finding) await hand.send('PATCH', `${findings}/${finding.id}`, decided);
};
const decideMany: Act = async (hand) => {
  const ids = (await hand.rows('compliance_findings')).slice(0, 5).map(({ id }) => id);
  if (ids.length > 0) await hand.send('PATCH', `${findings}/bulk`, { ids, decision: 'in_review' });
};
const judge: Act = async (hand) => {
  const finding = await hand.row('compliance_findings', 'card_id is not null');
  const verdict = hand.one(['confirm', 'deny']);
  if (finding) await hand.send('POST', `${findings}/${finding.id}/ai-verdict`, { verdict });
};
const remove: Act = async (hand) => {
  const finding = await hand.row('compliance_findings');
  if (finding) await hand.send('DELETE', `${findings}/${finding.id}`);
};

/** Writes of findings about regulations, with how often each is chosen. */
export const findingActs: [Act, number][] = [
  [write, 5],
  [edit, 2],
  [decide, 3],
  [decideMany, 1],
  [judge, 2],
  [remove, 1],
];
