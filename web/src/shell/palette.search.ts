import { keepPreviousData, type UseQueryOptions, useQueries, useQuery } from '@tanstack/react-query';
import {
  call,
  listAdrs,
  listBookmarks,
  listCards,
  listDiagrams,
  listRisks,
  listSavedReports,
  listSoaws,
  listUsers,
} from '#client';
import { viewOf } from '../kit/saved.ts';
import { isAllowed, useBootstrap, useMe } from './queries.ts';

/** Something besides cards that is found, and where it leads. */
export interface Found {
  kind: 'view' | 'saved' | 'risk' | 'decision' | 'diagram' | 'statement' | 'person';
  id: string;
  name: string;
  to: { to: string; params?: Record<string, string>; search?: Record<string, unknown> };
}

interface FoundCard {
  id: string;
  name: string;
  type: string;
}

type Read = (search: string, signal: AbortSignal) => Promise<Found[]>;

/** Cards and others that are found at once. */
const CARDS = 8;
const EACH = 4;

/** The page of a card with what it is used by: nothing else shows decisions, diagrams, risks and statements. */
const usedBy = (card: string | null | undefined): Found['to'] | undefined =>
  card ? { to: '/cards/$id', params: { id: card }, search: { tab: 'used' } } : undefined;

/** Those that a page shows. */
const shown = <T>(
  kind: Found['kind'],
  items: readonly T[],
  of: (item: T) => { id: string; name: string; to: Found['to'] | undefined },
): Found[] =>
  items.flatMap((item) => {
    const { to, ...one } = of(item);
    return to ? [{ kind, ...one, to }] : [];
  });

/** The reads of everything besides cards that the person may see. */
function useReads(): Partial<Record<Found['kind'], Read>> {
  const { permissions } = useMe();
  const { grc_enabled } = useBootstrap();
  const may = (permission: string) => isAllowed(permissions, permission);
  const all: [Found['kind'], boolean, Read][] = [
    [
      'view',
      may('bookmarks.manage'),
      async (search, signal) => {
        const { items } = await call(listBookmarks({ signal, query: { search, page_size: EACH } }));
        return shown('view', items, ({ id, name }) => ({
          id: id!,
          name: name!,
          to: { to: '/inventory', search: { view: id } },
        }));
      },
    ],
    [
      'saved',
      may('saved_reports.create'),
      async (search, signal) => {
        const { items } = await call(listSavedReports({ signal, query: { search, page_size: EACH } }));
        return shown('saved', items, ({ id, name, report_type, config }) => {
          const view = viewOf({ config: config! });
          const dashboard = { to: '/dashboards/$id', params: { id: id! } };
          return {
            id: id!,
            name: name!,
            to: report_type === 'dashboard' ? dashboard : view && { to: view.path, search: view.search },
          };
        });
      },
    ],
    [
      'risk',
      grc_enabled && may('risks.view'),
      async (search, signal) => {
        const query = { search, page_size: EACH, fields: 'id,reference,title,cards' };
        const { items } = await call(listRisks({ signal, query }));
        return shown('risk', items, ({ id, reference, title, cards }) => ({
          id: id!,
          name: `${reference} ${title}`,
          to: usedBy(
            (cards as { id?: string; card_id?: string }[] | undefined)?.map(
              (one) => one.card_id ?? one.id,
            )[0],
          ),
        }));
      },
    ],
    [
      'decision',
      may('adr.view'),
      async (search, signal) => {
        const query = { search, page_size: EACH, fields: 'id,reference_number,title,linked_cards' };
        const { items } = await call(listAdrs({ signal, query }));
        return shown('decision', items, ({ id, reference_number, title, linked_cards }) => ({
          id: id!,
          name: `${reference_number} ${title}`,
          to: usedBy((linked_cards as { id: string }[] | undefined)?.[0]?.id),
        }));
      },
    ],
    [
      'diagram',
      may('diagrams.view'),
      async (search, signal) => {
        const query = { search, page_size: EACH, fields: 'id,name,card_ids' };
        const { items } = await call(listDiagrams({ signal, query }));
        return shown('diagram', items, ({ id, name, card_ids }) => ({
          id: id!,
          name: name!,
          to: usedBy(card_ids?.[0]),
        }));
      },
    ],
    [
      'statement',
      may('soaw.view'),
      async (search, signal) => {
        const query = { search, page_size: EACH, fields: 'id,name,initiative_id' };
        const { items } = await call(listSoaws({ signal, query }));
        return shown('statement', items, ({ id, name, initiative_id }) => ({
          id: id!,
          name: name!,
          to: usedBy(initiative_id),
        }));
      },
    ],
    [
      'person',
      may('stakeholders.view'),
      async (search, signal) => {
        const query = { search, page_size: EACH, fields: 'id,display_name' };
        const { items } = await call(listUsers({ signal, query }));
        return shown('person', items, ({ id, display_name }) => ({
          id: id!,
          name: display_name!,
          to: { to: '/inventory', search: { filter: `stakeholder in (${id})` } },
        }));
      },
    ],
  ];
  return Object.fromEntries(all.filter(([, isAsked]) => isAsked).map(([kind, , read]) => [kind, read]));
}

/** What a text finds: cards first, then each other kind on its own, so that none waits for another. */
export function useFound(search: string, isPeople: boolean): { cards: FoundCard[]; others: Found[] } {
  const reads = useReads();
  const kinds = (Object.keys(reads) as Found['kind'][]).filter((kind) => !isPeople || kind === 'person');
  const common = { enabled: search !== '', placeholderData: keepPreviousData, retry: false };
  const cards: UseQueryOptions<FoundCard[]> = {
    queryKey: ['cards', 'palette', search],
    queryFn: async ({ signal }) => {
      const query = { search, page_size: CARDS, fields: 'id,type,name', sort_by: 'relevance' };
      return (await call(listCards({ signal, query }))).items as FoundCard[];
    },
    ...common,
    enabled: search !== '' && !isPeople,
  };
  const first = useQuery(cards);
  const others = kinds.map(
    (kind): UseQueryOptions<Found[]> => ({
      queryKey: ['palette', kind, search],
      queryFn: ({ signal }) => reads[kind]!(search, signal),
      ...common,
      enabled: search !== '' && !first.isFetching,
    }),
  );
  const rest = useQueries({ queries: others });
  if (search === '') return { cards: [], others: [] };
  return {
    cards: isPeople ? [] : (first.data ?? []),
    others: rest.flatMap(({ data }) => data ?? []),
  };
}
