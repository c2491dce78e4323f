import { randomUUID } from 'node:crypto';
import { type Row, row } from '../matrix.row.ts';
import type { Role, World } from '../world.ts';

/** A saved report of the role's own. */
async function own(w: World, role: Role): Promise<{ report_id: string }> {
  const { userId } = await w.t.as(role === 'anonymous' ? 'admin' : role);
  const [made] = await w.t.services
    .db('saved_reports')
    .insert({ owner_id: userId, name: randomUUID(), report_type: 'cost', config: '{}' })
    .returning('id');
  return { report_id: made.id };
}

export const savedReportRows: Row[] = [
  row('GET /saved-reports', '+ + + + + + 0'),
  row('POST /saved-reports', '+ + + - - - 0', () => ({
    body: { name: randomUUID(), report_type: 'matrix', config: {} },
  })),
  row('GET /saved-reports/{report_id}', '+ + + + + + 0', async (w, role) => ({
    path: await own(w, role),
  })),
  row('PATCH /saved-reports/{report_id}', '+ + + + + + 0', async (w, role) => ({
    path: await own(w, role),
    body: { name: 'Changed' },
  })),
  row('DELETE /saved-reports/{report_id}', '+ + + + + + 0', async (w, role) => ({
    path: await own(w, role),
  })),
];
