import { useKeys } from '../../kit/keys.ts';
import { CostsPanel } from './CostsPanel.tsx';
import styles from './card.module.css';
import { EolPanel } from './EolPanel.tsx';
import { FlowsPanel } from './FlowsPanel.tsx';
import { HierarchyPanel } from './HierarchyPanel.tsx';
import { LifecyclePanel } from './LifecyclePanel.tsx';
import { LineagePanel, RelationsPanel } from './RelationsPanel.tsx';
import { SectionPanel, useSections } from './SectionPanel.tsx';
import { SidePanel } from './SidePanel.tsx';

/** The card itself: lifecycle, the sections of its type, relations; beside them what needs attention. */
export function CardMain() {
  // Enter edits it then, and Tab goes to the next
  useKeys({
    e: () => document.querySelector<HTMLElement>('main [id^="field-attributes."] [data-fill]')?.focus(),
  });
  return (
    <div className={styles.page}>
      <div className={styles.main}>
        <LifecyclePanel />
        {useSections().map((section) => (
          <SectionPanel key={section.section} section={section} />
        ))}
        <HierarchyPanel />
        <RelationsPanel />
        <LineagePanel />
        <FlowsPanel />
        <CostsPanel />
        <EolPanel />
      </div>
      <SidePanel />
    </div>
  );
}
