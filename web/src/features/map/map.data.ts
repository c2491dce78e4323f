import { useMemo } from 'react';
import { useTexts } from '../../kit/messages.tsx';
import { useMetamodel } from '../../kit/metamodel.tsx';
import { type InventoryQuery, useQueryRows } from '../../kit/query.ts';
import { useMe } from '../../shell/queries.ts';
import type { Measure } from './map.colours.ts';
import type { MapSearch } from './map.search.ts';
import { type BoxRow, buildTree, type MapTree, type MemberRow } from './map.tree.ts';

/** The types of the boxes and of the cards in them, and the relations between them. */
export function useMapTypes(search: MapSearch) {
  const { types, relationTypes } = useMetamodel();
  return useMemo(() => {
    /** The types related to a type, with the ways there and back. */
    const related = (one: string) =>
      relationTypes.flatMap(({ key, is_hidden, source_type_key: source, target_type_key: target }) => {
        if (is_hidden || source === target) return [];
        const [here, there] = source === one ? ['source', 'target'] : ['target', 'source'];
        if (here === 'target' && target !== one) return [];
        const other = here === 'source' ? target : source;
        return [{ other, toInside: `relation.${key}.${there}`, toBox: `relation.${key}.${here}` }];
      });
    const hierarchical = types.filter(({ is_hidden, has_hierarchy }) => !is_hidden && has_hierarchy);
    const boxes =
      hierarchical.find(({ key }) => key === (search.boxes ?? 'BusinessCapability')) ?? hierarchical[0];
    const others = boxes ? related(boxes.key) : [];
    const offered = types.filter(
      ({ key, is_hidden }) => !is_hidden && others.some(({ other }) => other === key),
    );
    const inside = offered.find(({ key }) => key === (search.inside ?? 'Application')) ?? offered[0];
    return {
      boxes,
      inside,
      offeredBoxes: hierarchical,
      offeredInside: offered,
      ways: others.filter(({ other }) => other === inside?.key),
    };
  }, [types, relationTypes, search.boxes, search.inside]);
}

const kinds: Record<string, Measure['kind']> = { single_select: 'options', number: 'number', cost: 'money' };

/** What boxes can be coloured by: numbers and fields of the cards inside, and fields of the boxes. */
export function useMeasures(boxes: string, inside: string): Measure[] {
  const t = useTexts();
  const { sections, label } = useMetamodel();
  const { permissions } = useMe();
  const seesCosts = Boolean(permissions['*'] || permissions['costs.view']);
  return useMemo(() => {
    const fieldsOf = (type: string, isOwn: boolean) =>
      sections(type)
        .flatMap(({ fields }) => fields)
        .flatMap((field): Measure[] => {
          const kind = kinds[field.type];
          if (!kind || (kind === 'money' && !seesCosts)) return [];
          const key = isOwn ? `own.${field.key}` : field.key;
          return [{ key, label: label(field), kind, isOwn, type, field: field.key }];
        });
    const own = { isOwn: false, type: inside };
    return [
      { ...own, key: 'count', label: t('map.count'), kind: 'count', field: '' },
      ...fieldsOf(inside, false),
      { ...own, key: 'phase', label: t('field.phase'), kind: 'options', field: 'phase' },
      { ...own, key: 'data_quality', label: t('field.quality'), kind: 'percent', field: 'data_quality' },
      ...fieldsOf(boxes, true),
    ];
  }, [boxes, inside, sections, label, seesCosts, t]);
}

/** The path of a field in a query; `phase` and `data_quality` are no attributes. */
const pathOf = (field: string) =>
  field === 'phase' || field === 'data_quality' ? field : `attributes.${field}`;

/** A relation between boxes and cards inside, as paths from either end. */
export interface Way {
  toInside: string;
  toBox: string;
}

interface MapInput {
  boxes: string;
  inside: string;
  ways: readonly Way[];
  measure: Measure;
  /** The field whose sum is the cost of a card; undefined without the right to see costs. */
  cost: string | undefined;
  search: MapSearch;
  /** A condition on the cards inside. */
  filter: string | undefined;
}

/** The tree of the boxes with the cards in them. */
export function useMapTree({ boxes, inside, ways, measure, cost, search, filter }: MapInput) {
  const past = search.as_of ? { as_of: `${search.as_of}T23:59:59Z` } : {};
  const day = search.as_of ? { at: search.as_of } : {};
  const value = {
    field: pathOf(measure.field),
    as: 'value',
    ...(measure.field === 'phase' && day),
  };
  const boxQuery: InventoryQuery = {
    from: [boxes],
    ...past,
    dimensions: [
      { field: 'id' },
      { field: 'name' },
      { field: 'parent_id' },
      ...(measure.isOwn ? [value] : []),
    ],
    measures: [{ fn: 'count' }],
  };
  const memberQuery = ({ toBox }: Way): InventoryQuery => ({
    from: [inside],
    ...past,
    ...(filter && { filter }),
    dimensions: [
      { field: 'id' },
      { field: 'name' },
      { field: `${toBox}.id`, as: 'box' },
      ...(measure.isOwn || measure.kind === 'count' ? [] : [value]),
    ],
    measures: [cost ? { fn: 'sum', field: `attributes.${cost}`, as: 'cost' } : { fn: 'count' }],
  });
  const boxRows = useQueryRows(boxQuery);
  const first = useQueryRows(ways[0] && memberQuery(ways[0]));
  const second = useQueryRows(ways[1] && memberQuery(ways[1]));
  const hasValue = !(measure.isOwn || measure.kind === 'count');
  const tree = useMemo((): MapTree | undefined => {
    if (!boxRows.data || (ways[0] && !first.data)) return undefined;
    const rows = boxRows.data.map(
      ([id, name, parent, own]): BoxRow => ({
        id: String(id),
        name: String(name),
        parent: parent === null ? null : String(parent),
        value: measure.isOwn ? (own as BoxRow['value']) : null,
      }),
    );
    const members = [...(first.data ?? []), ...(second.data ?? [])].flatMap((row): MemberRow[] => {
      const [id, name, box] = row;
      if (box === null) return [];
      const amount = cost ? row.at(-1) : null;
      return [
        {
          id: String(id),
          name: String(name),
          box: String(box),
          value: hasValue ? (row[3] as MemberRow['value']) : null,
          cost: typeof amount === 'number' ? amount : null,
        },
      ];
    });
    return buildTree(rows, members);
  }, [boxRows.data, first.data, second.data, ways, measure.isOwn, hasValue, cost]);
  const all = [boxRows, first, second];
  return {
    tree,
    error: all.find(({ error }) => error)?.error ?? null,
    isLoading: all.some(
      ({ isFetching, isPlaceholderData, data }) => isFetching && (isPlaceholderData || !data),
    ),
  };
}
