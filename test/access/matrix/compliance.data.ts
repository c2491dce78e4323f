import { onNew, type Row, row } from '../matrix.row.ts';
import type { World } from '../world.ts';

const values = { regulation: 'gdpr', requirement: 'R', status: 'partial', severity: 'low' };

/** A finding on a card of its own. */
export async function finding(w: World, more: object = {}): Promise<string> {
  const [made] = await w.t.services
    .db('compliance_findings')
    .insert({ ...values, card_id: await w.card(), ...more })
    .returning('id');
  return made.id;
}

const one = async (w: World) => ({ path: { finding_id: await finding(w) } });

/** Whoever reads the inventory reads findings; administrators alone write them and decide about them. */
export const complianceRows: Row[] = [
  row('POST /compliance/scans', '+ - - - - - 0'),
  row('GET /compliance/active-runs', '+ + + + - - 0'),
  row('GET /compliance/overview', '+ + + + - - 0'),
  row('GET /compliance/bundles', '+ + + + - - 0'),
  row('GET /compliance/findings', '+ + + + - - 0'),
  row('GET /compliance/findings/{finding_id}', '+ + + + - - 0', one),
  row(
    'GET /cards/{card_id}/compliance-findings',
    '+ + + + - - 0',
    onNew('card_id', (w) => w.card()),
  ),
  row('POST /compliance/findings', '+ - - - - - 0', async (w) => ({
    body: { ...values, card_id: await w.card() },
  })),
  row('PATCH /compliance/findings/bulk', '+ - - - - - 0', async (w) => ({
    body: { ids: [await finding(w)], decision: 'in_review' },
  })),
  row('DELETE /compliance/findings/bulk', '+ - - - - - 0', async (w) => ({
    body: { ids: [await finding(w)] },
  })),
  // a decision is made once: each request gets a finding of its own
  row('PATCH /compliance/findings/{finding_id}', '+ - - - - - 0', async (w, _role) => ({
    ...(await one(w)),
    body: { decision: 'accepted', review_note: 'Small.' },
  })),
  row('DELETE /compliance/findings/{finding_id}', '+ - - - - - 0', one),
  row('PATCH /compliance/findings/{finding_id}/details', '+ - - - - - 0', one, { category: 'privacy' }),
  row('POST /compliance/findings/{finding_id}/ai-verdict', '+ - - - - - 0', one, { verdict: 'confirm' }),
];
