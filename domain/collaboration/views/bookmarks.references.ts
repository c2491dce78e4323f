import { embed, fragment } from '../../../platform/database.ts';
import { References } from '../../inventory/metamodel/usage/references.ts';
import { defineConsumers } from '../../kernel/metamodel/consumers.define.ts';
import { visibleBookmarks } from './bookmarks.commands.ts';
import type { BookmarkFilters } from './bookmarks.input.ts';
import type { BookmarkRow } from './views.model.ts';

type Sorted = { field?: string; further?: { field: string }[] };
type Layout = { group_by?: string; widths?: Record<string, number> };

/** Saved views, and views with a feed. */
export const viewConsumers = defineConsumers<
  Pick<BookmarkRow, 'card_type' | 'filters' | 'columns' | 'sort' | 'layout'>
>({
  tables: ['bookmarks'],
  rows: (
    ctx,
  ) => fragment`select b.id::text, case when b.odata_enabled then 'feed' else 'view' end as kind, b.name, b.owner_id,
      null::timestamptz as last_used_at, '/api/v1/bookmarks/' || b.id as link, ${embed(visibleBookmarks(ctx))} as is_visible,
      jsonb_build_object('card_type', b.card_type, 'filters', b.filters, 'columns', b.columns, 'sort', b.sort,
        'layout', b.layout) as content
    from bookmarks b`,
  references({ card_type, filters, columns, sort, layout }, metamodel) {
    const found = new References(metamodel);
    const {
      types = [],
      subtypes = [],
      attributes = {},
      relations = {},
      expression,
    } = (filters ?? {}) as BookmarkFilters;
    const scope = types.length > 0 ? types : card_type ? [card_type] : undefined;
    found.type(...types, ...(card_type ? [card_type] : []));
    for (const key of subtypes) found.subtype(key, scope);
    for (const [key, value] of Object.entries(attributes))
      found.field(key, scope, value === null ? [] : [value].flat());
    for (const key of Object.keys(relations)) found.relationType(key);
    found.filter(expression, scope);
    const { field, further = [] } = (sort ?? {}) as Sorted;
    const { group_by, widths = {} } = (layout ?? {}) as Layout;
    const names = [
      ...(columns ?? []),
      field,
      ...further.map((one) => one.field),
      group_by,
      ...Object.keys(widths),
    ];
    for (const name of names) found.path(name, scope);
    return found.all;
  },
});
