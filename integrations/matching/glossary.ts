/**
 * Words that names of systems and capabilities are made of, in other languages (German, French, Spanish, Italian, Dutch,
 * Portuguese; folded), under the English one. A word that is another one's in a second language is left out.
 */
const CONCEPTS: Record<string, string> = {
  accounting:
    'buchhaltung buchfuhrung rechnungswesen comptabilite contabilidad contabilita boekhouding contabilidade',
  account: 'konto compte cuenta rekening conta konten comptes cuentas',
  access: 'zugang zugriff acces acceso accesso toegang acesso',
  analysis: 'analyse analisis analisi',
  application: 'anwendung applikation aplicacion applicazione toepassing aplicacao',
  archive: 'archiv archivo archivio archief arquivo',
  asset: 'anlagen actif activo activos',
  billing: 'fakturierung abrechnung facturation facturacion fatturazione facturering faturamento',
  budget: 'haushalt presupuesto bilancio begroting orcamento',
  business: 'geschaft affaires negocio negocios',
  capacity: 'kapazitat capacite capacidad capacita capaciteit capacidade',
  claims: 'schaden sinistres siniestros sinistri sinistros',
  complaint: 'beschwerde reklamation reclamation reclamacion reclamo klacht reclamacao',
  contract: 'vertrag vertrage contrat contrato contratto',
  contracts: 'contrats contratos contratti contracten',
  controlling: 'kostenrechnung',
  customer: 'kunde kunden client clients cliente clientes clienti klant klanten',
  data: 'daten donnees datos dati gegevens dados',
  database: 'datenbank',
  delivery: 'lieferung auslieferung livraison entrega consegna levering',
  development: 'entwicklung developpement desarrollo sviluppo ontwikkeling desenvolvimento',
  document: 'dokument dokumente documento documenti documentos documenten',
  employee: 'mitarbeiter employe empleado dipendente medewerker funcionario',
  energy: 'energie energia',
  exchange: 'austausch echange intercambio scambio uitwisseling',
  finance: 'finanzen finanz finanzas finanza financien financas',
  fleet: 'fuhrpark flotte flota flotta wagenpark frota',
  freight: 'fracht fret flete vracht',
  general: 'allgemein allgemeine allgemeines generale gral',
  gateway: 'schnittstelle passerelle pasarela',
  health: 'gesundheit sante salud salute gezondheid saude',
  insurance: 'versicherung assurance seguro assicurazione verzekering',
  inventory: 'bestand inventar inventaire inventario',
  invoice: 'rechnung rechnungen facture factura fattura factuur fatura',
  leave: 'urlaub conges vacaciones ferie verlof ferias',
  ledger: 'hauptbuch grossbuch grootboek',
  library: 'bibliothek bibliotheque biblioteca bibliotheek',
  logistics: 'logistik logistique logistica logistiek',
  maintenance: 'wartung instandhaltung entretien mantenimiento manutenzione onderhoud manutencao',
  management: 'verwaltung gestion gestione beheer gestao',
  manufacturing: 'fertigung fabrication fabricacion fabbricazione fabricage fabricacao',
  market: 'markt marche mercado mercato',
  measurement: 'messung mesure medicion misura meting medicao',
  monitor: 'uberwachung surveillance vigilancia monitoraggio bewaking',
  order: 'auftrag bestellung commande pedido ordine bestelling encomenda',
  orders: 'auftrage bestellungen commandes pedidos ordini bestellingen encomendas',
  payment: 'zahlung zahlungen paiement pago pagamento betaling',
  payroll:
    'lohn gehalt lohnabrechnung gehaltsabrechnung paie nomina paghe loonadministratie salarisadministratie',
  personnel: 'personal personale personeel pessoal',
  planner: 'planer planificateur planificador pianificatore',
  planning: 'planung planification planificacion pianificazione planejamento',
  portal: 'portail portale portaal',
  price: 'preis preise prix precio prezzo prijs preco',
  pricing: 'preisgestaltung tarification preisfindung',
  procurement: 'beschaffung approvisionnement aprovisionamiento approvvigionamento inkoop',
  production: 'produktion produccion produzione productie producao',
  project: 'projekt projet proyecto progetto projeto',
  purchasing: 'einkauf achats compras acquisti',
  quality: 'qualitat qualite calidad qualita kwaliteit qualidade',
  register: 'verzeichnis registre registro',
  reporting: 'berichtswesen berichte rapports informes rapportage relatorios',
  research: 'forschung recherche investigacion ricerca onderzoek pesquisa',
  risk: 'risiko risque riesgo rischio risico risco',
  sales: 'vertrieb verkauf ventes ventas vendite verkoop vendas',
  security: 'sicherheit securite seguridad sicurezza beveiliging seguranca',
  service: 'dienst dienste servicio servizio servico',
  shipping: 'versand expedition envio spedizione verzending',
  shop: 'laden boutique tienda negozio winkel loja',
  stock: 'vorrat vorrate existencias giacenze voorraad estoque',
  storage: 'speicher stockage almacenamiento archiviazione opslag armazenamento',
  supplier:
    'vendor vendors lieferant lieferanten fournisseur fournisseurs proveedor proveedores fornitore leverancier fornecedor',
  system: 'systeme sistema systeem',
  tax: 'steuer steuern impot impots impuesto impuestos imposte belasting imposto',
  tenders: 'ausschreibungen',
  time: 'zeit zeiten tempo tijd',
  training: 'schulung formation formacion formazione opleiding formacao',
  tracking: 'erfassung',
  travel: 'reise reisen voyage viaje viaggio reizen viagem',
  treasury: 'tresorerie tesoreria',
  warehouse: 'lager entrepot almacen magazzino magazijn armazem',
};

const ENGLISH = new Map(
  Object.entries(CONCEPTS).flatMap(([english, others]) =>
    others.split(' ').map((other) => [other, english] as const),
  ),
);
const KNOWN = new Set([...ENGLISH.keys(), ...Object.keys(CONCEPTS)]);
const JOINTS = ['', 's', 'n', 'en', 'e'];
/** Letters of the shortest part of a compound. */
const SHORTEST = 4;

/** Endings of several of a thing. */
const PLURALS = ['s', 'es', 'n', 'en'];

/**
 * The English words that a folded word of a name stands for; itself where it is none of the glossary. Compounds of such words, `lagerverwaltung`
 * and `kundenportalsystem`, are taken apart.
 */
export function inEnglish(word: string): string[] {
  const known = knownAs(word) ?? singular(word);
  if (known) return [known];
  return (word.length >= 2 * SHORTEST && inParts(word, MOST_PARTS)) || [word];
}

/** Words that a compound is taken apart into at most. */
const MOST_PARTS = 3;

const knownAs = (word: string): string | undefined =>
  ENGLISH.get(word) ?? (KNOWN.has(word) ? word : undefined);

/** What several of a thing stand for; words that are English already stay as they are. */
function singular(word: string): string | undefined {
  for (const ending of PLURALS)
    if (word.endsWith(ending)) {
      const one = ENGLISH.get(word.slice(0, -ending.length));
      if (one) return one;
    }
  return undefined;
}

function inParts(word: string, most: number): string[] | undefined {
  for (let at = word.length - SHORTEST; at >= SHORTEST; at--) {
    const last = knownAs(word.slice(at));
    if (!last) continue;
    for (const joint of JOINTS) {
      const before = word.slice(0, at);
      if (!before.endsWith(joint)) continue;
      const first = before.slice(0, at - joint.length);
      const parts = knownAs(first) ?? (most > 2 ? inParts(first, most - 1) : undefined);
      if (parts) return [parts, last].flat();
    }
  }
  return undefined;
}
