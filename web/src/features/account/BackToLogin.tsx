import { Link } from '@tanstack/react-router';
import { useTexts } from '../../kit/messages.tsx';
import styles from './public.module.css';

export function BackToLogin() {
  const t = useTexts();
  return (
    <Link to="/login" search={{ next: undefined }} className={styles.link}>
      {t('forgot.back')}
    </Link>
  );
}
