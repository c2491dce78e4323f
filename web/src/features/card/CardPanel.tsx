import { useQuery } from '@tanstack/react-query';
import { useTexts } from '../../kit/messages.tsx';
import { useReason } from '../../kit/reasons.ts';
import { CardHeader } from './CardHeader.tsx';
import { CardProvider } from './context.tsx';
import { HierarchyPanel } from './HierarchyPanel.tsx';
import { LifecyclePanel } from './LifecyclePanel.tsx';
import styles from './panel.module.css';
import { overviewQuery } from './queries.ts';
import { LineagePanel, RelationsPanel } from './RelationsPanel.tsx';
import { SectionPanel, useSections } from './SectionPanel.tsx';
import { People, Quality } from './SidePanel.tsx';

/** A card beside a list or report: its header, fields, relations and people, to read and to edit as on its page. */
export function CardPanel({ id }: { id: string }) {
  const t = useTexts();
  const reasonOf = useReason();
  const { data, error } = useQuery(overviewQuery(id));
  if (error)
    return (
      <p className={styles.body} role="alert">
        {reasonOf(error)}
      </p>
    );
  if (!data)
    return (
      <p className={styles.body} aria-busy="true">
        {t('state.loading')}
      </p>
    );
  return (
    <CardProvider overview={data}>
      <div className={styles.body}>
        <CardHeader />
        <LifecyclePanel />
        <Sections />
        <HierarchyPanel />
        <RelationsPanel />
        <LineagePanel />
        <Quality />
        <People />
      </div>
    </CardProvider>
  );
}

function Sections() {
  return useSections().map((section) => <SectionPanel key={section.section} section={section} />);
}
