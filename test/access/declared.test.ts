import { createApp } from '../../api/app.ts';
import { routesOf } from '../../api/operation.ts';
import type { RoutePermission } from '../../api/types.ts';
import { closeAfterAll, createTestServices } from '../support/harness.ts';

const app = await createApp(closeAfterAll(await createTestServices()).services);
afterAll(() => app.close());

/** Declares one more operation, as every group does while the service starts. */
function declare(name: string, permission: unknown): void {
  routesOf(app, { tag: 'Health' }).get(name, `/api/v1/${name}`, {
    summary: 'Read nothing',
    permission: permission as RoutePermission,
    responses: { 204: { description: 'Nothing' } },
    handler: async ({ reply }) => reply.code(204).send(),
  });
}

// a name is taken also by a route that was refused
let undeclared = 0;
test.each([
  ['no permission', undefined],
  ['an unknown permission', 'inventory.vew'],
  ['an unknown permission among known ones', ['inventory.view', 'inventory.vew']],
  ['an empty list of permissions', []],
  ['the name of a member that every object has', 'constructor'],
  ['a card permission', 'card.edit'],
])('a route with %s stops the start', (_, permission) => {
  const name = `undeclared${undeclared}`;
  undeclared += 1;
  expect(() => declare(name, permission)).toThrow(
    `the route GET /api/v1/${name} declares no known permission`,
  );
});

test('so does a route that is declared past the usual way', () => {
  const handler = async () => 'here';
  expect(() => app.get('/api/v1/aside', handler)).toThrow('declares no known permission');
  expect(() => app.route({ method: ['GET', 'POST'], url: '/api/v1/aside', config: {}, handler })).toThrow(
    'declares no known permission',
  );
});

test('with known permissions it starts', async () => {
  declare('one', 'inventory.view');
  declare('oneOfSeveral', ['risks.view', 'inventory.view']);
  await app.ready();
});
