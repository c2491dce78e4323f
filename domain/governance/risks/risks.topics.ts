/** The topic of the reports that count risks. */
export const RISKS_TOPIC = 'risks';

/** To do an occurrence of a mitigation task; the subject is the occurrence. */
export const OCCURRENCE_TOPIC = 'risk_mitigation';
