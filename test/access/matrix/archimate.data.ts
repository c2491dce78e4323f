import { type Row, row } from '../matrix.row.ts';

const text =
  '<model xmlns="http://www.opengroup.org/xsd/archimate/3.0/" identifier="m"><name>Empty</name></model>';

/** Who imports a model makes cards, relations and diagrams; who exports one has the right to. */
export const archimateRows: Row[] = [
  // operation                                A B M V I P 0
  row('POST /archimate/imports', '+ + + - - - 0', () => ({
    raw: { mediaType: 'application/xml', text },
  })),
  row('POST /archimate/exports', '+ + + + - - 0', () => ({ body: {} })),
];
