import { openApp } from '../support/harness.ts';
import { routes, testPages, visited } from './pages.ts';

const { t } = await openApp();
await testPages(t, 'empty');

test('every route of the router is visited', () => {
  expect(visited.toSorted()).toEqual(routes().toSorted());
});
