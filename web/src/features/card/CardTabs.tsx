import { Link, useSearch } from '@tanstack/react-router';
import type { CardOverview } from '#client';
import { type MessageKey, useTexts } from '../../kit/messages.tsx';
import { CardMain } from './CardMain.tsx';
import { CommentsTab } from './CommentsTab.tsx';
import styles from './card.module.css';
import type { Tab } from './card.search.ts';
import { useCard } from './context.tsx';
import { GraphTab } from './GraphTab.tsx';
import { HistoryTab } from './HistoryTab.tsx';
import { PeopleTab } from './PeopleTab.tsx';
import { ResourcesTab } from './ResourcesTab.tsx';
import { TodosTab } from './TodosTab.tsx';
import { UsedTab } from './UsedTab.tsx';
import { useNewTabs } from './visits.ts';

interface ShownTab {
  tab: Tab | undefined;
  text: MessageKey;
  /** How many things it holds. */
  count?: number | null | undefined;
}

/** Tabs that the person may see; the service counts nothing in lists that are hidden. */
function tabsOf(counts: CardOverview['counts'], may: (permission: string) => boolean): ShownTab[] {
  const sum = (...parts: (number | null | undefined)[]) =>
    parts.every((part) => part === null || part === undefined)
      ? null
      : parts.reduce<number>((total, part) => total + (part ?? 0), 0);
  const all: ShownTab[] = [
    { tab: undefined, text: 'tab.card' },
    { tab: 'comments', text: 'tab.comments', count: counts?.comments ?? null },
    { tab: 'todos', text: 'tab.todos', count: counts?.open_todos ?? null },
    ...(may('stakeholders.view') ? [{ tab: 'people', text: 'tab.people' } as const] : []),
    { tab: 'resources', text: 'tab.resources', count: sum(counts?.documents, counts?.files) },
    ...(may('relations.view') && may('reports.ea_dashboard')
      ? [{ tab: 'graph', text: 'tab.graph' } as const]
      : []),
    {
      tab: 'used',
      text: 'tab.used',
      count: sum(counts?.risks, counts?.decisions, counts?.diagrams, counts?.compliance_findings),
    },
    { tab: 'history', text: 'tab.history' },
  ];
  return all.filter(({ count }) => count !== null);
}

/** The parts of the page, each with an address of its own. */
export function CardTabs() {
  const t = useTexts();
  const { overview, card, asOf } = useCard();
  const isNew = useNewTabs(card.id);
  const { tab } = useSearch({ from: '/app/cards/$id' });
  const may = (permission: string) => Boolean(overview.permissions?.app_level?.[permission]);
  const shown = tabsOf(overview.counts, may);
  const current = shown.some((one) => one.tab === tab) ? tab : undefined;
  return (
    <>
      <nav className={styles.tabs} aria-label={t('tab.label')}>
        {shown.map(({ tab: key, text, count }) => (
          <Link
            key={text}
            to="."
            search={{ ...(key && { tab: key }), ...(asOf && { asOf }) }}
            className={styles.tab}
            activeOptions={{ exact: true, includeSearch: true }}
            aria-current={key === current ? 'page' : undefined}
          >
            {t(text)}
            {Boolean(count) && <span className={styles.tabCount}>{count}</span>}
            {key !== current && isNew(key) && (
              <span className={styles.tabNew} role="img" aria-label={t('tab.new')} title={t('tab.new')} />
            )}
          </Link>
        ))}
      </nav>
      <TabContent tab={current} />
    </>
  );
}

function TabContent({ tab }: { tab: Tab | undefined }) {
  switch (tab) {
    case 'comments':
      return <CommentsTab />;
    case 'todos':
      return <TodosTab />;
    case 'people':
      return <PeopleTab />;
    case 'graph':
      return <GraphTab />;
    case 'used':
      return <UsedTab />;
    case 'history':
      return <HistoryTab />;
    case 'resources':
      return <ResourcesTab />;
    default:
      return <CardMain />;
  }
}
