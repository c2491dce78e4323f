import { ActionIcon, Button } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { AsOfField } from '../../kit/AsOfField.tsx';
import { useChartContext } from '../../kit/charts.ts';
import { useCardName } from '../../kit/finders.tsx';
import { useFormat } from '../../kit/format.ts';
import { Icon } from '../../kit/Icon.tsx';
import { TypeMark } from '../../kit/marks.tsx';
import { useTexts } from '../../kit/messages.tsx';
import { useMetamodel } from '../../kit/metamodel.tsx';
import { Page } from '../../kit/Page.tsx';
import { useReason } from '../../kit/reasons.ts';
import { SaveView } from '../../kit/SaveView.tsx';
import { ShareButton } from '../../kit/ShareButton.tsx';
import { MapBoxes } from './MapBoxes.tsx';
import { type Go, MapControls, type MapTypes } from './MapControls.tsx';
import { MapLegend } from './MapLegend.tsx';
import { MapPanel } from './MapPanel.tsx';
import { MapTable } from './MapTable.tsx';
import { type Colouring, colouringOf, type Measure, rulesOf, type WriteRange } from './map.colours.ts';
import { useMapTree, useMapTypes, useMeasures } from './map.data.ts';
import styles from './map.module.css';
import type { MapSearch, Rule } from './map.search.ts';
import { leavesAt, type MapBox, type MapTree, pathOf } from './map.tree.ts';

/** The capability map: boxes in boxes, coloured by what is in them. */
export function MapPage() {
  const search = useSearch({ from: '/app/map' });
  const types = useMapTypes(search);
  const t = useTexts();
  if (!types.boxes || !types.inside)
    return (
      <Page title={<h1>{t('nav.map')}</h1>}>
        <p className={styles.nothing}>{t('map.noTypes')}</p>
      </Page>
    );
  return <MapView search={search} types={types} boxes={types.boxes.key} inside={types.inside.key} />;
}

/** A condition on the cards inside: those that are related to a card. */
function useScope(scope: string | undefined, inside: string): string | undefined {
  const { relationTypes } = useMetamodel();
  const card = useCardName(scope);
  if (!card) return undefined;
  if (card.type === inside) return `(id = ${card.id} or parent = ${card.id})`;
  const ways = relationTypes.flatMap(({ key, source_type_key: source, target_type_key: target }) => {
    const end = source === inside && target === card.type ? 'target' : 'source';
    const isWay = end === 'target' || (target === inside && source === card.type);
    return isWay
      ? [`relation.${key}.${end}.id = ${card.id} or relation.${key}.${end}.parent = ${card.id}`]
      : [];
  });
  return ways.length > 0 ? `(${ways.join(' or ')})` : 'id is empty';
}

/** Names of the parts of a scale of a measure. */
function useRange(measure: Measure, rule: Rule | undefined): WriteRange {
  const { shortMoney, number, percent } = useFormat();
  if (rule === 'share') return (_, to) => `≤ ${percent(to * 100)}`;
  if (measure.kind === 'money') return (_, to) => `≤ ${shortMoney(to)}`;
  if (measure.kind === 'percent') return (_, to) => `≤ ${percent(to)}`;
  return (_, to) => `≤ ${number(to >= 10 ? Math.round(to) : Math.round(to * 10) / 10)}`;
}

interface MapViewProps {
  search: MapSearch;
  types: MapTypes;
  boxes: string;
  inside: string;
}

function MapView({ search, types, boxes, inside }: MapViewProps) {
  const t = useTexts();
  const navigate = useNavigate({ from: '/map' });
  const { sections } = useMetamodel();
  const measures = useMeasures(boxes, inside);
  const byDefault = measures.find(({ key, kind }) => kind === 'options' && key === 'technicalSuitability');
  const measure = measures.find(({ key }) => key === search.colour) ?? byDefault ?? measures[0]!;
  const rules = rulesOf(measure);
  const rule = rules.find((one) => one === search.rule) ?? rules[0];
  const cost = sections(inside)
    .flatMap(({ fields }) => fields)
    .find(({ type, key }) => type === 'cost' && measures.some((one) => one.key === key))?.key;
  const scope = useScope(search.scope, inside);
  const filter = [search.filter && `(${search.filter})`, scope].filter(Boolean).join(' and ') || undefined;
  const { tree, error, isLoading } = useMapTree({
    boxes,
    inside,
    ways: types.ways,
    measure,
    cost,
    search,
    filter,
  });
  const go: Go = (change) => void navigate({ search: (before) => ({ ...before, ...change }), replace: true });
  const open = (root: string | undefined) =>
    void navigate({ search: (before) => ({ ...before, root, peek: undefined }) });
  useHotkeys([['t', () => go({ view: search.view === 'table' ? undefined : 'table' })]]);
  const levels = search.levels ?? 3;
  const root = search.root ? tree?.byId.get(search.root) : undefined;
  const roots = root ? (root.children.length > 0 ? root.children : [root]) : (tree?.roots ?? []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the roots follow from the tree and the address
  const leaves = useMemo(() => leavesAt(roots, levels), [tree, search.root, levels]);
  const context = useChartContext(search.as_of);
  const writeRange = useRange(measure, rule);
  // biome-ignore lint/correctness/useExhaustiveDependencies: writeRange follows from the measure and the rule
  const colouring = useMemo(
    () =>
      colouringOf({
        measure,
        rule,
        context,
        leaves,
        noValue: t(measure.field === 'phase' ? 'phase.none' : 'facets.without'),
        writeRange,
      }),
    [measure, rule, context, leaves, t],
  );
  const chosen = search.peek ? tree?.byId.get(search.peek) : undefined;
  const shown = { colouring, measure, inside };
  // without any relation yet, each box would be a gap
  const hasMembers =
    tree === undefined || tree.roots.length === 0 || tree.roots.some(({ all }) => all.size > 0);
  return (
    <Page
      title={
        <>
          <span className={styles.mark}>
            <TypeMark type={boxes} size={22} />
          </span>
          {root ? <Crumbs tree={tree!} root={root.id} onOpen={open} /> : <h1>{t('nav.map')}</h1>}
        </>
      }
      actions={
        <>
          <AsOfField value={search.as_of} onChange={(as_of) => go({ as_of })} />
          <Button
            variant="default"
            leftSection={<Icon name={search.view === 'table' ? 'grid_view' : 'table'} />}
            aria-keyshortcuts="t"
            onClick={() => go({ view: search.view === 'table' ? undefined : 'table' })}
          >
            {t(search.view === 'table' ? 'chart.chart' : 'chart.table')}
          </Button>
          <SaveView
            title={root?.name ?? t('nav.map')}
            view={{ path: '/map', search: { ...search, peek: undefined } }}
          />
          <ShareButton />
        </>
      }
    >
      <MapControls {...{ search, types, boxes, inside, measures, measure, rule, levels, go }} />
      <MapLegend leaves={leaves} {...shown} only={search.only} onOnly={(only) => go({ only })} />
      {tree && !hasMembers && <NothingInside inside={inside} boxes={boxes} />}
      <div className={styles.body} aria-busy={isLoading} data-stale={isLoading}>
        <Boxes
          {...{ error, roots, levels, search, go, open }}
          {...shown}
          isKnown={tree !== undefined}
          marksGaps={hasMembers && !measure.isOwn}
        />
        {chosen && (
          <MapPanel
            box={chosen}
            {...shown}
            boxes={boxes}
            ways={types.ways}
            onClose={() => go({ peek: undefined })}
            onOpen={open}
          />
        )}
      </div>
    </Page>
  );
}

interface ShownProps {
  error: Error | null;
  /** Whether the boxes are read. */
  isKnown: boolean;
  roots: readonly MapBox[];
  levels: number;
  search: MapSearch;
  go: Go;
  open(root: string | undefined): void;
  colouring: Colouring;
  measure: Measure;
  inside: string;
  marksGaps: boolean;
}

/** The boxes, or a table of them, or why there are none. */
function Boxes({ error, isKnown, search, go, open, ...shown }: ShownProps) {
  const t = useTexts();
  const reasonOf = useReason();
  const { peek } = search;
  if (error)
    return (
      <p role="alert" className={styles.nothing}>
        {reasonOf(error)}
      </p>
    );
  if (!isKnown) return null;
  if (shown.roots.length === 0)
    return (
      <p className={styles.nothing}>
        {t('map.empty')}{' '}
        <Link to="/import" className={styles.link}>
          {t('first.import')}
        </Link>
      </p>
    );
  if (search.view === 'table')
    return (
      <MapTable
        {...shown}
        sort={search.sort}
        onSort={(sort) => go({ sort })}
        onPeek={(id) => go({ peek: id })}
      />
    );
  return (
    <MapBoxes
      {...shown}
      only={search.only}
      peek={peek}
      onPeek={(id) => go({ peek: id === peek ? undefined : id })}
      onOpen={open}
    />
  );
}

/** Says that nothing is related to the boxes, and where relations come from. */
function NothingInside({ inside, boxes }: { inside: string; boxes: string }) {
  const t = useTexts();
  const { plural } = useMetamodel();
  return (
    <p className={styles.hint}>
      {t('map.noneInside', { inside: plural(inside), boxes: plural(boxes) })}{' '}
      <Link to="/import" className={styles.link}>
        {t('nav.import')}
      </Link>
    </p>
  );
}

function Crumbs({
  tree,
  root,
  onOpen,
}: {
  tree: MapTree;
  root: string;
  onOpen(id: string | undefined): void;
}) {
  const t = useTexts();
  const box = tree.byId.get(root)!;
  return (
    <>
      <ActionIcon
        className={styles.back!}
        onClick={() => onOpen(box.parent?.id)}
        aria-label={box.parent?.name ?? t('nav.map')}
      >
        <Icon name="arrow_back" />
      </ActionIcon>
      <span className={styles.path}>
        <button type="button" className={styles.crumb} onClick={() => onOpen(undefined)}>
          {t('nav.map')}
        </button>
        {pathOf(box).map(({ id, name }) => (
          <span key={id}>
            <span className="muted"> / </span>
            <button type="button" className={styles.crumb} onClick={() => onOpen(id)}>
              {name}
            </button>
          </span>
        ))}
        <span className="muted"> /</span>
      </span>
      <h1>{box.name}</h1>
    </>
  );
}
