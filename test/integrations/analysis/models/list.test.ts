import type { AiSettings } from '../../../../domain/analysis/ai/ai.provider.ts';
import { modelsOf } from '../../../../integrations/analysis/models/models.list.ts';
import { type ModelFault, startModels } from '../../../emulators/openai.ts';
import { closeAfterAll, createTestServices } from '../../../support/harness.ts';

const KEY = 'sk-17';
const t = closeAfterAll(await createTestServices({ OUTBOUND_ALLOW: '127.0.0.1:*' }));
const world = closeAfterAll(await startModels(KEY));

const list = (provider_type: AiSettings['provider_type'], apiKey = KEY, provider_url = world.url) =>
  modelsOf(t.services.outbound, { settings: { provider_type, provider_url } as AiSettings, apiKey }, 200);
const reason = async (fault: ModelFault, apiKey = KEY) => {
  world.fault = () => fault;
  const error = await list('openai', apiKey).catch((thrown) => thrown);
  world.fault = () => undefined;
  return [error.code, error.extra.reason];
};

it.each([
  [
    'openai',
    [
      ['large', 'large'],
      ['small', 'small'],
    ],
  ],
  [
    'ollama',
    [
      ['large', 'large'],
      ['small', 'small'],
    ],
  ],
  ['anthropic', [['claude-small', 'Claude Small']]],
  ['gemini', [['gemini-small', 'Gemini Small']]],
] as const)('lists the models of %s that write texts', async (type, expected) => {
  expect((await list(type)).map(({ id, name }) => [id, name])).toEqual(expected);
});

it('says why there is no list', async () => {
  expect(await reason('hang')).toEqual(['upstream_failed', 'timeout']);
  expect(await reason('cut')).toEqual(['upstream_failed', 'unavailable']);
  expect(await reason('page')).toEqual(['upstream_failed', 'unavailable']);
  expect(await reason(500)).toEqual(['upstream_failed', 'unavailable']);
  expect(await list('openai', 'wrong').catch(({ extra }) => extra.reason)).toBe('unauthorised');
  await expect(list('azure_openai')).rejects.toMatchObject({ code: 'wrong_state' });
  const inside = list('openai', KEY, 'http://10.0.0.1/v1');
  await expect(inside).rejects.toMatchObject({ code: 'upstream_failed', extra: { reason: 'address' } });
});
