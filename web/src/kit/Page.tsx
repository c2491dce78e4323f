import { type ReactNode, useRef } from 'react';
import { useDocumentTitle } from './documentTitle.ts';
import styles from './page.module.css';

interface PageProps {
  /** The title, with what stands before it. */
  title: ReactNode;
  /** At the right of the title; at most one primary button. */
  actions?: ReactNode;
  children: ReactNode;
}

/** A page: a bar with its title, and its content below. */
export function Page({ title, actions, children }: PageProps) {
  const bar = useRef<HTMLElement>(null);
  useDocumentTitle(() => bar.current?.querySelector('h1')?.textContent);
  return (
    <>
      <header className={styles.bar} ref={bar}>
        <div className={styles.title}>{title}</div>
        <div className={styles.actions}>{actions}</div>
      </header>
      <main className={styles.content}>{children}</main>
    </>
  );
}
