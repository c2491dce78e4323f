import type { HttpSource } from '../../../../domain/exchange/itsm/http-sources.input.ts';
import { connectHttp } from '../../../../integrations/exchange/itsm/connectors/http/http.ts';
import { startLists } from '../../../emulators/http-lists.ts';
import { createVirtualClock } from '../../../emulators/virtual-clock.ts';
import { expectError, partsOn, readAll } from './remote.ts';

const source: HttpSource = { name: 'rows', path: 'rows', format: 'json', key: 'id', rows: 'items' };

test.each([
  // JSON readers round it to the number of another row
  ['{"id": 12345678901234567891}', 'an unusable key'],
  [`{"id": "${'k'.repeat(501)}"}`, 'an unusable key'],
  ['{"id": "1\\u0000"}', 'null character'],
  ['{"id": "1", "name": "half \\ud83d"}', 'half a character'],
])('a row that cannot be stored makes the list unreadable: %.30s', async (row, words) => {
  const clock = createVirtualClock();
  const lists = await startLists({ clock });
  lists.instead.push({ status: 200, body: `{"items": [{"id": "0", "name": "\\\\u0000 😀"}, ${row}]}` });
  const config = { url: lists.base, auth: { kind: 'none' as const }, sources: [source], attempts: 1 };
  const remote = connectHttp({ config, ...partsOn(clock) });
  await expectError(readAll(remote, 'rows', 5), 'bad_rows', words);
  await remote.close();
  await lists.close();
});
