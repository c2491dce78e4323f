import { Button, SegmentedControl } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { CardImpact, CardPaths } from '#client';
import { CardFinder } from '../../kit/finders.tsx';
import { Icon } from '../../kit/Icon.tsx';
import { TypeMark } from '../../kit/marks.tsx';
import { useTexts } from '../../kit/messages.tsx';
import { useMetamodel } from '../../kit/metamodel.tsx';
import type { Graph, GraphEdge } from './explorer.data.ts';
import styles from './explorer.module.css';
import { type ExplorerSearch, type Tab, toggledIn } from './explorer.search.ts';
import { useVerb } from './verbs.ts';

interface PanelProps {
  search: ExplorerSearch;
  graph: Graph;
  center: string;
  paths: CardPaths | undefined;
  impact: CardImpact | undefined;
  go(change: Partial<ExplorerSearch>): void;
  onCenter(id: string): void;
}

/** Beside the graph: the chosen card, what depends on the centre, or the paths from it. */
export function ExplorerPanel({ search, graph, center, paths, impact, go, onCenter }: PanelProps) {
  const t = useTexts();
  const tab = search.tab ?? 'card';
  return (
    <aside className={styles.panel} aria-label={t('explorer.panel')}>
      <SegmentedControl
        fullWidth
        size="xs"
        aria-label={t('explorer.panel')}
        value={tab}
        data={(['card', 'impact', 'path'] as const).map((value) => ({
          value,
          label: t(`explorer.tab.${value}`),
        }))}
        onChange={(value) => go({ tab: value === 'card' ? undefined : (value as Tab), path: undefined })}
      />
      {tab === 'card' && (
        <CardTab
          graph={graph}
          id={search.peek ?? center}
          search={search}
          go={go}
          onCenter={onCenter}
          center={center}
        />
      )}
      {tab === 'impact' && <ImpactTab impact={impact} name={graph.nodes.get(center)?.name ?? ''} />}
      {tab === 'path' && <PathTab paths={paths} search={search} center={center} go={go} />}
    </aside>
  );
}

interface CardTabProps {
  graph: Graph;
  id: string;
  center: string;
  search: ExplorerSearch;
  go(change: Partial<ExplorerSearch>): void;
  onCenter(id: string): void;
}

/** Relations that are listed; the card has all. */
const LISTED = 40;

function CardTab({ graph, id, center, search, go, onCenter }: CardTabProps) {
  const t = useTexts();
  const verb = useVerb();
  const { plural } = useMetamodel();
  const node = graph.nodes.get(id);
  if (!node) return null;
  const own = graph.edges.filter(({ source, target }) => source === id || target === id);
  const groups = Map.groupBy(own, (edge) => verb(edge, id));
  const isOpen = search.open?.includes(id) ?? false;
  return (
    <>
      <h2 className={styles.name}>
        <TypeMark type={node.type} size={24} />
        <Link to="/cards/$id" params={{ id }}>
          {node.name}
        </Link>
      </h2>
      {id !== center && (
        <div className={styles.actions}>
          <Button variant="default" onClick={() => onCenter(id)}>
            {t('explorer.centerHere')}
          </Button>
          <Button variant="default" onClick={() => go({ open: toggledIn(search.open, id) })}>
            {t(isOpen ? 'explorer.foldShort' : 'explorer.unfoldShort')}
          </Button>
          <Button variant="default" onClick={() => go({ tab: 'path', to: id, path: undefined })}>
            {t('explorer.pathHere')}
          </Button>
        </div>
      )}
      {[...groups].map(([name, edges]) => (
        <section key={name}>
          <h3 className={styles.group}>
            {name} <span className="muted">{edges.length}</span>
          </h3>
          <ul className={styles.list}>
            {edges.slice(0, LISTED).map((edge) => {
              const other = graph.nodes.get(edge.source === id ? edge.target : edge.source)!;
              return (
                <li key={`${edge.source} ${edge.target} ${edge.type}`}>
                  <button type="button" onClick={() => go({ peek: other.id })}>
                    <TypeMark type={other.type} size={18} />
                    {other.name}
                  </button>
                </li>
              );
            })}
          </ul>
        </section>
      ))}
      {graph.leftOut
        .filter(({ card_id }) => card_id === id)
        .map(({ type, count }) => (
          <p key={type} className={styles.group}>
            {plural(type, count)} <span className="muted">{count}</span>
          </p>
        ))}
      {own.length === 0 && !graph.leftOut.some(({ card_id }) => card_id === id) && (
        <p className="secondary">{t('explorer.alone')}</p>
      )}
    </>
  );
}

/** The most ids in a filter of the inventory. */
const MOST_IDS = 190;

function ImpactTab({ impact, name }: { impact: CardImpact | undefined; name: string }) {
  const t = useTexts();
  const { types, plural } = useMetamodel();
  if (!impact) return <p className="secondary">{t('state.loading')}</p>;
  const ids = impact.items.map(({ id }) => id);
  return (
    <>
      <h2 className={styles.name}>
        <span className={styles.bolt}>
          <Icon name="bolt" size={20} />
        </span>
        {t('explorer.ifOff', { name })}
      </h2>
      <p className="secondary">{t('explorer.lose', { count: impact.total })}</p>
      <ul className={styles.counts}>
        {types.map((type) => {
          const counts = impact.counts[type.key];
          return counts ? (
            <li key={type.key}>
              <TypeMark type={type.key} />
              <span>
                {plural(type, counts.all)}
                <br />
                <span className="secondary">{t('explorer.directly', { count: counts.direct })}</span>
              </span>
              <strong>{counts.all}</strong>
            </li>
          ) : null;
        })}
      </ul>
      {impact.switched_off.length > 1 && (
        <p className="secondary">{t('explorer.withBelow', { count: impact.switched_off.length - 1 })}</p>
      )}
      {ids.length > 0 && ids.length <= MOST_IDS && impact.total === ids.length && (
        <Button
          variant="default"
          leftSection={<Icon name="table" />}
          renderRoot={(props) => (
            <Link to="/inventory" search={{ filter: `id in (${ids.join(', ')})` }} {...props} />
          )}
        >
          {t('map.toInventory', { count: ids.length })}
        </Button>
      )}
    </>
  );
}

interface PathTabProps {
  paths: CardPaths | undefined;
  search: ExplorerSearch;
  center: string;
  go(change: Partial<ExplorerSearch>): void;
}

function PathTab({ paths, search, center, go }: PathTabProps) {
  const t = useTexts();
  const verb = useVerb();
  const at = search.path ?? 0;
  const path = paths?.paths[at];
  const byId = new Map(paths?.cards.map((card) => [card.id, card]));
  let here = center;
  const steps = (path ?? []).map((step) => {
    const edge: GraphEdge = { source: step.source_id, target: step.target_id, type: step.relation_type_key };
    const said = verb(edge, here);
    here = here === edge.source ? edge.target : edge.source;
    return { key: step.relation_id, said, card: byId.get(here) };
  });
  const first = byId.get(center);
  return (
    <>
      <CardFinder
        look="control"
        types={[]}
        label={t('explorer.to')}
        placeholder={t('explorer.choose')}
        width={266}
        value={search.to}
        onPick={({ id }) => go({ to: id, path: undefined })}
        onClear={() => go({ to: undefined, path: undefined })}
      />
      {paths && paths.length === null && <p className="secondary">{t('explorer.noPath')}</p>}
      {path && (
        <>
          <div className={styles.actions}>
            <span className="secondary">
              {t('explorer.pathOf', { at: at + 1, count: paths!.paths.length, steps: path.length })}
            </span>
            {paths!.paths.length > 1 && (
              <Button
                variant="default"
                onClick={() => go({ path: (at + 1) % paths!.paths.length || undefined })}
              >
                {t('explorer.nextPath')}
              </Button>
            )}
          </div>
          <ol className={styles.path}>
            {first && (
              <li>
                <TypeMark type={first.type!} size={18} />
                <strong>{first.name}</strong>
              </li>
            )}
            {steps.map(({ key, said, card }) => (
              <li key={key}>
                <span className={styles.said}>{said}</span>
                {card && (
                  <Link to="/cards/$id" params={{ id: card.id! }}>
                    <TypeMark type={card.type!} size={18} />
                    <strong>{card.name}</strong>
                  </Link>
                )}
              </li>
            ))}
          </ol>
        </>
      )}
    </>
  );
}
