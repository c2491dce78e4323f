import fc from 'fast-check';
import type { FieldMapping, FieldRule, Value } from '../../../../domain/exchange/itsm/mappings.types.ts';
import {
  canonical,
  compareField,
  type FieldState,
  isEqual,
  type TransformContext,
  toLocal,
  toRemote,
} from '../../../../integrations/exchange/itsm/engine/fields.ts';
import { mappedField } from './mapping.support.ts';

const around: TransformContext = {
  cardOf: (id) => (id === 'r1' ? 'c1' : undefined),
  recordOf: (id) => (id === 'c1' ? 'r1' : undefined),
  evaluate: (formula, value) => {
    if (formula === 'fail') throw new Error('too many steps');
    return `${formula}${value}`;
  },
};
type Transform = Partial<FieldMapping>;
const field = (transform: Transform = {}, direction: FieldRule = 'manual'): FieldMapping =>
  mappedField('attributes.x', 'u_x', { ...transform, direction } as Transform);
const state = (over: Partial<FieldState>): FieldState => ({
  field: field(),
  base: { local: 'a', remote: 'a' },
  local: 'a',
  remote: 'a',
  changedAt: { local: null, remote: null },
  winner: undefined,
  ...over,
});
const outcome = (over: Partial<FieldState>, direction: 'pull' | 'push' | 'bidirectional' = 'bidirectional') =>
  compareField(state(over), direction, around);

describe('a three-way comparison of a field', () => {
  it('changes nothing without a change, also if the sides have different forms', () => {
    expect(outcome({}).kind).toBe('same');
    expect(outcome({ base: { local: 'A', remote: 'a' }, local: 'A' }).kind).toBe('same');
  });

  it('writes the value to the other side if only one side has changed, under every rule', () => {
    for (const rule of ['remote_leads', 'local_leads', 'newest_wins', 'manual'] as const) {
      const of = { field: field({}, rule) };
      expect(outcome({ ...of, local: 'b' })).toMatchObject({ kind: 'write', side: 'remote', value: 'b' });
      expect(outcome({ ...of, remote: null })).toMatchObject({ kind: 'write', side: 'local', value: null });
    }
  });

  it('only updates the base if both sides have changed to the same value', () =>
    expect(outcome({ local: 'b', remote: 'b' })).toEqual({
      kind: 'agree',
      agreed: { local: 'b', remote: 'b' },
    }));

  it('applies the rule if both sides have changed to different values', () => {
    const won = (rule: FieldRule, over: Partial<FieldState> = {}) =>
      outcome({ local: 'b', remote: 'c', field: field({}, rule), ...over });
    expect(won('remote_leads')).toMatchObject({ kind: 'write', side: 'local', value: 'c', settled: true });
    expect(won('local_leads')).toMatchObject({ kind: 'write', side: 'remote', value: 'b', settled: true });
    expect(won('manual').kind).toBe('conflict');
    expect(won('manual', { winner: 'local' })).toMatchObject({ side: 'remote', value: 'b', settled: true });
    const times = (local: number | null, remote: number | null) => ({ changedAt: { local, remote } });
    expect(won('newest_wins', times(2, 1))).toMatchObject({ side: 'remote', value: 'b' });
    expect(won('newest_wins', times(1, 2))).toMatchObject({ side: 'local', value: 'c' });
    expect(won('newest_wins', times(1, 1)).kind).toBe('conflict');
    // a value restored by an undo is as old as before
    expect(won('newest_wins', { ...times(1, 2), restoredSide: 'local' })).toMatchObject({
      side: 'local',
      value: 'c',
    });
    expect(won('newest_wins', { ...times(2, 1), restoredSide: 'remote' })).toMatchObject({
      side: 'remote',
      value: 'b',
    });
    expect(won('manual', { ...times(2, 1), restoredSide: 'remote' }).kind).toBe('conflict');
    expect(won('newest_wins', times(null, 1)).kind).toBe('conflict');
  });

  it('without a base, fills an empty side; different values are a conflict', () => {
    expect(outcome({ base: undefined, local: null })).toMatchObject({ kind: 'write', side: 'local' });
    expect(outcome({ base: undefined, remote: null })).toMatchObject({ kind: 'write', side: 'remote' });
    expect(outcome({ base: undefined, local: 'b' }).kind).toBe('conflict');
    expect(outcome({ base: undefined }).kind).toBe('agree');
  });

  it('writes nothing to a side that the mapping does not write', () => {
    expect(outcome({ local: 'b' }, 'pull').kind).toBe('disallowed');
    expect(outcome({ remote: 'b' }, 'push').kind).toBe('disallowed');
    expect(outcome({ remote: 'b' }, 'pull').kind).toBe('write');
  });

  it('does not write back through a value map with several entries for one value', () => {
    const transform: Transform = {
      transform_type: 'value_map',
      transform_config: {
        pairs: [
          { remote: '1', local: 'live' },
          { remote: '2', local: 'live' },
          { remote: '9', local: 'gone' },
        ],
      },
    };
    const of = { field: field(transform), base: { local: 'live', remote: '1' }, local: 'live', remote: '1' };
    expect(outcome({ ...of, remote: '2' })).toMatchObject({ kind: 'agree', agreed: { remote: '2' } });
    expect(outcome({ ...of, remote: '9' })).toMatchObject({ kind: 'write', side: 'local', value: 'gone' });
    expect(outcome({ ...of, remote: '7' })).toMatchObject({ kind: 'problem' });
    expect(outcome({ ...of, local: 'gone' })).toMatchObject({ kind: 'write', side: 'remote', value: '9' });
  });
});

describe('transforms', () => {
  const ways: [Transform, Value, Value][] = [
    [
      { transform_type: 'date_format', transform_config: { remote: 'datetime' } },
      '2026-02-28 00:00:00',
      '2026-02-28',
    ],
    [{ transform_type: 'date_format', transform_config: { remote: 'date' } }, '2026-02-28', '2026-02-28'],
    [{ transform_type: 'boolean', transform_config: { yes: ['true', '1'], no: ['false'] } }, 'true', true],
    [{ transform_type: 'reference', transform_config: { mapping_id: null } }, 'r1', 'c1'],
    [{ transform_type: 'expression', transform_config: { to_local: 'x', to_remote: 'x' } }, 'y', 'xy'],
    [
      { transform_type: 'value_map', transform_config: { pairs: [{ remote: null, local: 'none' }] } },
      null,
      'none',
    ],
  ];
  it.each(ways)('of %j convert %j to %j', (transform, remote, local) => {
    expect(toLocal(field(transform), remote, around)).toEqual({ ok: true, value: local });
    if (transform.transform_type === 'expression') return;
    expect(toRemote(field(transform), local, around)).toEqual({ ok: true, value: remote });
  });

  it('report what they cannot convert', () => {
    const bad: [Transform, Value][] = [
      [{ transform_type: 'date_format', transform_config: { remote: 'date' } }, '2026-02-30'],
      [{ transform_type: 'date_format', transform_config: { remote: 'date' } }, 'tomorrow'],
      [{ transform_type: 'boolean', transform_config: { yes: ['1'], no: ['0'] } }, 'maybe'],
      [{ transform_type: 'reference', transform_config: { mapping_id: null } }, 'r2'],
      [{ transform_type: 'expression', transform_config: { to_local: 'fail', to_remote: null } }, 'y'],
      [{ transform_type: 'value_map', transform_config: { pairs: [] } }, 'y'],
    ];
    for (const [transform, value] of bad)
      expect(toLocal(field(transform), value, around)).toMatchObject({ ok: false });
    expect(
      toRemote(
        field({ transform_type: 'expression', transform_config: { to_local: 'x', to_remote: null } }),
        'y',
        around,
      ),
    ).toMatchObject({ ok: false });
  });

  it('treat different forms of a value as equal', () => {
    expect(canonical(' ')).toBeNull();
    expect(canonical([])).toBeNull();
    expect(canonical('a\r\nb')).toBe('a\nb');
    expect(canonical({ b: 1, a: '' })).toEqual({ b: 1 });
    const value = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Value>;
    fc.assert(
      fc.property(value, (one) => isEqual(canonical(canonical(one)), canonical(one))),
      { numRuns: 200 },
    );
  });
});
