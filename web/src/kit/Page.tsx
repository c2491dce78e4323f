import type { ReactNode } from 'react';
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
  return (
    <>
      <header className={styles.bar}>
        <div className={styles.title}>{title}</div>
        <div className={styles.actions}>{actions}</div>
      </header>
      <main className={styles.content}>{children}</main>
    </>
  );
}
