import { type ModelEmulator, startModels } from '../../emulators/openai.ts';
import { type Row, row } from '../matrix.row.ts';
import type { World } from '../world.ts';

let models: Promise<ModelEmulator> | undefined;

/** Sets up a model that says as little as it may. */
async function withModel({ client }: World): Promise<void> {
  models ??= startModels();
  const provider_url = `${(await models).url}/v1`;
  const admin = await client('admin');
  await admin.patch('/api/v1/settings/ai', {
    enabled: true,
    provider_type: 'openai',
    provider_url,
    model: 'small',
    api_key: null,
  });
}

/** What models are asked for, and what is set and shown of them. */
export const aiRows: Row[] = [
  // operation                             A B M V I P 0
  row('GET /ai/status', '+ + + - - - 0'),
  row('POST /ai/question', '+ + + + - - 0', () => ({ body: { question: 'how many applications' } })),
  row('POST /ai/suggest', '+ + + - - - 0', async (w) => {
    await withModel(w);
    return { body: { type_key: 'Application', name: 'Payroll' } };
  }),
  row('POST /ai/portfolio-insights', '+ + + - - - 0', async () => ({ body: {} })),
  row('GET /settings/ai/preview', '+ - - - + - 0', async (w) => ({
    query: `card_id=${await w.card()}`,
  })),
  row('GET /settings/ai/models', '+ - - - + - 0', async (w) => {
    await withModel(w);
    return {};
  }),
  row('GET /settings/ai/usage', '+ - - - + - 0'),
];
