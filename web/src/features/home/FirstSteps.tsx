import { Link } from '@tanstack/react-router';
import { Icon } from '../../kit/Icon.tsx';
import { useTexts } from '../../kit/messages.tsx';
import styles from './home.module.css';

/** How to begin in an empty workspace. */
export function FirstSteps() {
  const t = useTexts();
  return (
    <div className={styles.steps}>
      <Link to="/inventory" search={{ type: 'Application', create: true }} className={styles.step}>
        <Icon name="add_circle" size={20} />
        <strong>{t('first.create')}</strong>
        <span>{t('first.createHelp')}</span>
      </Link>
      <Link to="/import" search={{}} className={styles.step}>
        <Icon name="upload_file" size={20} />
        <strong>{t('first.import')}</strong>
        <span>{t('first.importHelp')}</span>
      </Link>
      <a href="/api/docs#/Synchronisation" target="_blank" rel="noreferrer" className={styles.step}>
        <Icon name="sync" size={20} />
        <strong>{t('first.connect')}</strong>
        <span>{t('first.connectHelp')}</span>
      </a>
    </div>
  );
}
