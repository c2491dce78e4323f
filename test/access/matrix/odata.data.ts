import { type Row, row } from '../matrix.row.ts';
import type { World } from '../world.ts';

const application = async (w: World) => `Application(${await w.card()})`;

export const odataRows: Row[] = [
  row('GET /odata/v4', '+ + + + - - 0'),
  row('GET /odata/v4/$metadata', '+ + + + - - 0'),
  row('GET /odata/v4/estate.pbids', '+ + + + - - 0'),
  row('GET /odata/v4/{resource}', '+ + + + - - 0', () => ({
    path: { resource: 'Application' },
    query: '$top=2',
  })),
  row('GET /odata/v4/{resource} (relations)', '+ + + + - - 0', () => ({
    path: { resource: 'RelAppToITC' },
    query: '$top=2',
  })),
  row('GET /odata/v4/{resource}/{part}', '+ + + + - - 0', async (w) => ({
    path: { resource: await application(w), part: 'name' },
  })),
  row('GET /odata/v4/{resource}/{part}/{suffix}', '+ + + + - - 0', async (w) => ({
    path: { resource: await application(w), part: 'name', suffix: '$value' },
  })),
];
