import { type Act, type Acts, deletes, onRow, patches } from './hand.ts';

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
const decideMany: Act = async (hand) => {
  const ids = (await hand.rows('compliance_findings')).slice(0, 5).map(({ id }) => id);
  if (ids.length > 0) await hand.send('PATCH', `${findings}/bulk`, { ids, decision: 'in_review' });
};
const judge: Act = async (hand) => {
  const finding = await hand.row('compliance_findings', 'card_id is not null');
  const verdict = hand.one(['confirm', 'deny']);
  if (finding) await hand.send('POST', `${findings}/${finding.id}/ai-verdict`, { verdict });
};

/** Writes of findings about regulations. */
export const findingActs: Acts = [
  [write, 5],
  [
    onRow('compliance_findings', (finding, hand) => [
      'PATCH',
      `${findings}/${finding.id}/details`,
      hand.one<object>([{ severity: 'info' }, { evidence: 'Seen.', remediation: null }]),
    ]),
    2,
  ],
  [
    patches('compliance_findings', findings, (hand) => ({
      decision: hand.one(decisions),
      review_note: 'Seen.',
    })),
    3,
  ],
  [decideMany, 1],
  [judge, 2],
  [deletes('compliance_findings', findings), 1],
];
