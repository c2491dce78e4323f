import styles from './card.module.css';
import { useCard } from './context.tsx';
import { LifecyclePanel } from './LifecyclePanel.tsx';
import { RelationsPanel } from './RelationsPanel.tsx';
import { SectionPanel, useSections } from './SectionPanel.tsx';
import { SidePanel } from './SidePanel.tsx';

/** The card itself: lifecycle, the sections of its type, relations; beside them what needs attention. */
export function CardMain() {
  const { overview } = useCard();
  return (
    <div className={styles.page}>
      <div className={styles.main}>
        <LifecyclePanel />
        {useSections().map((section) => (
          <SectionPanel key={section.section} section={section} />
        ))}
        <RelationsPanel overview={overview} />
      </div>
      <SidePanel />
    </div>
  );
}
