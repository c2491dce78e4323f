import { readCardHeader, readRelationHeader } from '../../../../domain/kernel/transfer/columns.ts';
import { EstateError } from '../../../../platform/errors.ts';

const keys = new Set(['timeModel', 'run.cost']);

function faults(read: () => unknown): { field: string; code: string }[] {
  try {
    read();
  } catch (error) {
    expect(error).toBeInstanceOf(EstateError);
    expect((error as EstateError).status).toBe(422);
    return (error as EstateError).errors!.map(({ field, code }) => ({ field, code }));
  }
  return [];
}

describe('the header of a file of cards', () => {
  it('takes fields, lifecycle phases and attributes in any order', () => {
    const columns = readCardHeader(
      ['name', ' type ', 'lifecycle.endOfLife', 'attributes.timeModel', 'attributes.run.cost', 'parent_path'],
      keys,
    );
    expect(columns.map(({ part, key }) => [part, key])).toEqual([
      ['field', 'name'],
      ['field', 'type'],
      ['lifecycle', 'endOfLife'],
      ['attributes', 'timeModel'],
      ['attributes', 'run.cost'],
      ['field', 'parent_path'],
    ]);
  });

  it('names every column that is unknown or repeated', () => {
    const header = [
      ...['type', 'name', 'Name', 'lifecycle.dead', 'attributes.nope', '', 'source_id'],
      ...['name', 'attributes.timeModel', 'attributes.timeModel', 'constructor', 'attributes.__proto__'],
    ];
    expect(faults(() => readCardHeader(header, keys))).toEqual([
      { field: 'Name', code: 'unknown_column' },
      { field: 'lifecycle.dead', code: 'unknown_column' },
      { field: 'attributes.nope', code: 'unknown_column' },
      { field: 'column 6', code: 'unknown_column' },
      { field: 'source_id', code: 'unknown_column' },
      { field: 'constructor', code: 'unknown_column' },
      { field: 'attributes.__proto__', code: 'unknown_column' },
      { field: 'name', code: 'repeated_column' },
      { field: 'attributes.timeModel', code: 'repeated_column' },
    ]);
  });

  it('needs a type or an id, and something to identify a card by', () => {
    expect(faults(() => readCardHeader(['name'], keys))).toEqual([{ field: 'type', code: 'missing_column' }]);
    expect(faults(() => readCardHeader(['type'], keys))).toEqual([{ field: 'name', code: 'missing_column' }]);
    for (const header of [
      ['id', 'alias'],
      ['type', 'external_id'],
      ['type', 'name'],
    ])
      expect(faults(() => readCardHeader(header, keys))).toEqual([]);
  });
});

it('the header of a file of relations needs an id, or the type and both ends', () => {
  expect(faults(() => readRelationHeader(['id', 'description'], keys))).toEqual([]);
  expect(faults(() => readRelationHeader(['type', 'source_id', 'target_external_id'], keys))).toEqual([]);
  expect(faults(() => readRelationHeader(['description', 'source_id'], keys))).toEqual([
    { field: 'type', code: 'missing_column' },
    { field: 'target_external_id', code: 'missing_column' },
  ]);
});

it('the header of a file of relations has no lifecycle', () =>
  expect(faults(() => readRelationHeader(['id', 'lifecycle.active', 'attributes.timeModel'], keys))).toEqual([
    { field: 'lifecycle.active', code: 'unknown_column' },
  ]));
