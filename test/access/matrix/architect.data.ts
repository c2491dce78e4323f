import { randomUUID } from 'node:crypto';
import { type Row, row } from '../matrix.row.ts';
import type { World } from '../world.ts';

const url = '/api/v1/ai-analysis';

async function kept(w: World): Promise<{ assessment_id: string }> {
  const [made] = await w.t.services
    .db('assessments')
    .insert({ title: randomUUID(), requirement: 'Anything', session_data: '{}' })
    .returning('id');
  return { assessment_id: made.id };
}

export const architectRows: Row[] = [
  row(`GET ${url}/assessments`, '+ + + - - - 0'),
  row(`POST ${url}/assessments`, '+ - - - - - 0', () => ({
    body: { title: randomUUID(), requirement: 'Anything', sessionData: {} },
  })),
  row(`GET ${url}/assessments/{assessment_id}`, '+ + + - - - 0', async (w) => ({ path: await kept(w) })),
  row(`PATCH ${url}/assessments/{assessment_id}`, '+ - - - - - 0', async (w) => ({
    path: await kept(w),
    body: { title: 'Changed' },
  })),
  row(`DELETE ${url}/assessments/{assessment_id}`, '+ - - - - - 0', async (w) => ({ path: await kept(w) })),
];
