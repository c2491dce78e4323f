import type { FieldMapping, Mapping } from './model.types.ts';
import { canonical, same } from './values.ts';

/** Something in a mapping that cannot work, with the place in it. */
export interface MappingFault {
  field: string;
  message: string;
}

/** What is wrong with a mapping by itself; whether its tables and fields exist is for its two sides to say. */
export function checkMapping(mapping: Mapping): MappingFault[] {
  const { fields, deletion, direction } = mapping;
  const faults: MappingFault[] = [];
  const fault = (field: string, message: string) => faults.push({ field, message });
  fields.forEach((field, at) => {
    const where = `fields.${at}`;
    const earlier = fields.slice(0, at);
    if (earlier.some(({ path }) => path === field.path)) fault(`${where}.path`, 'The path is mapped twice.');
    if (earlier.some(({ remote }) => remote === field.remote)) {
      fault(`${where}.remote`, 'The column is mapped twice.');
    }
    for (const message of checkTransform(field, direction)) fault(`${where}.transform`, message);
  });
  if (direction !== 'push' && !fields.some(({ path }) => path === 'name')) {
    fault('fields', 'Cards cannot be made without a field for their name.');
  }
  if (!(deletion.maxRatio >= 0 && deletion.maxRatio <= 1)) {
    fault('deletion.maxRatio', 'The ratio is between 0 and 1.');
  }
  for (const key of ['maxCount', 'quarantineMs', 'completeReads'] as const) {
    if (!(Number.isSafeInteger(deletion[key]) && deletion[key] >= 0)) {
      fault(`deletion.${key}`, 'A whole number from 0.');
    }
  }
  return faults;
}

function checkTransform({ transform }: FieldMapping, direction: Mapping['direction']): string[] {
  switch (transform.kind) {
    case 'value_map': {
      const remotes = transform.pairs.map(({ remote }) => canonical(remote));
      const twice = remotes.some((value, at) => remotes.slice(0, at).some((other) => same(other, value)));
      return twice ? ['A remote value stands in the value map twice.'] : [];
    }
    case 'boolean': {
      const [yes, no] = [transform.yes, transform.no].map((values) =>
        values.map((value) => canonical(value)),
      );
      const both = yes!.some((value) => no!.some((other) => same(value, other)));
      const empty = transform.yes.length === 0 || transform.no.length === 0;
      return [
        ...(both ? ['A value means both yes and no.'] : []),
        ...(empty ? ['Yes and no need a value each.'] : []),
      ];
    }
    case 'expression':
      return direction !== 'pull' && transform.toRemote === undefined
        ? ['A mapping that writes at the remote needs a formula for the way out.']
        : [];
    default:
      return [];
  }
}
