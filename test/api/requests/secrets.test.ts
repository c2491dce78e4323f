import { loginAs, person } from '../../support/accounts.ts';
import { openApp } from '../../support/harness.ts';

const { t, admin } = await openApp(['admin']);

/** Members of answers that log somebody in, or sign for the service. */
const secretMembers = /"(access_token|setup_token|ticket|token|secret|recovery_codes)":\{/;

test('every operation whose answer holds a secret is kept by no cache', () => {
  const { paths, components } = t.app.swagger() as unknown as {
    paths: Record<string, Record<string, { operationId: string; responses: Record<string, object> }>>;
    components: { schemas: Record<string, object> };
  };
  const withRefs = (value: object): string =>
    JSON.stringify(value).replace(/\{"\$ref":"#\/components\/schemas\/(\w+)"\}/g, (_, name: string) =>
      JSON.stringify(components.schemas[name]),
    );
  const told = Object.values(paths).flatMap((methods) =>
    Object.values(methods).flatMap(({ operationId, responses }) => {
      const good = Object.entries(responses).filter(([status]) => status.startsWith('2'));
      return good.some(([, answer]) => secretMembers.test(withRefs(answer))) ? [operationId] : [];
    }),
  );
  const declared = [...t.app.operations.values()]
    .filter(({ secretResponse }) => secretResponse)
    .map(({ id }) => id);
  expect(told.length).toBeGreaterThan(10);
  // credentials of connections are masked
  expect(told.filter((id) => !declared.includes(id) && !id.includes('ItsmConnection'))).toEqual([]);
});

test('so are their refusals and their repetitions', async () => {
  const made = () => admin.post('/api/v1/tokens', { name: 'Once' }, { 'idempotency-key': 'a-secret-once' });
  const answers = [await made(), await made(), await admin.post('/api/v1/tokens', { name: ' ' })];
  expect(answers.map(({ status }) => status)).toEqual([201, 201, 422]);
  const login = await loginAs(t, await person(t));
  const ticket = await admin.post('/api/v1/events/ticket');
  for (const answer of [...answers, login, ticket]) expect(answer.headers['cache-control']).toBe('no-store');
  expect((await admin.get('/api/v1/tokens')).headers['cache-control']).not.toBe('no-store');
});
