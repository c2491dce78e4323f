/*
 * Business capabilities that most enterprises have, on three levels. A line is the last part of a node's id, its name in
 * English and, behind the bar, in German; what is indented lies below.
 */
export const capabilities = `
100 Strategy and Governance | Strategie und Steuerung
  10 Strategy Development | Strategieentwicklung
    10 Market Analysis | Marktanalyse
    20 Business Model Design | Gestaltung von Geschäftsmodellen
    30 Strategic Planning | Strategische Planung
  20 Enterprise Performance | Unternehmensleistung
    10 Goal Setting | Zielsetzung
    20 Performance Measurement | Leistungsmessung
    30 Management Reporting | Managementberichte
  30 Portfolio and Change | Portfolio und Wandel
    10 Demand Management | Anforderungsmanagement
    20 Programme and Project Management | Programm- und Projektmanagement
    30 Organisational Change | Organisatorischer Wandel
  40 Governance and Compliance | Governance und Compliance
    10 Policy Management | Richtlinienmanagement
    20 Risk Management | Risikomanagement
    30 Compliance Monitoring | Überwachung der Regeltreue
    40 Internal Audit | Interne Revision
150 Products and Innovation | Produkte und Innovation
  10 Innovation | Innovation
    10 Idea Management | Ideenmanagement
    20 Research | Forschung
    30 Prototyping | Prototypenbau
  20 Product Development | Produktentwicklung
    10 Requirements Engineering | Anforderungserhebung
    20 Product Design | Produktgestaltung
    30 Testing and Release | Erprobung und Freigabe
  30 Product Management | Produktmanagement
    10 Product Portfolio Planning | Produktportfolioplanung
    20 Pricing | Preisgestaltung
    30 Product Lifecycle Control | Steuerung des Produktlebenszyklus
    40 Product Data Management | Produktdatenmanagement
200 Marketing and Sales | Marketing und Vertrieb
  10 Marketing | Marketing
    10 Brand Management | Markenführung
    20 Campaign Management | Kampagnenmanagement
    30 Customer Insight | Kundenverständnis
    40 Content Management | Inhaltsmanagement
  20 Sales | Verkauf
    10 Lead Management | Interessentenmanagement
    20 Opportunity Management | Chancenmanagement
    30 Quotation | Angebotserstellung
    40 Contract Closing | Vertragsabschluss
  30 Channel Management | Kanalmanagement
    10 Partner Management | Partnermanagement
    20 Digital Commerce | Digitaler Handel
    30 Field Sales | Außendienst
  40 Order Management | Auftragsmanagement
    10 Order Capture | Auftragserfassung
    20 Order Fulfilment Control | Steuerung der Auftragserfüllung
    30 Returns Handling | Retourenabwicklung
250 Customer Service | Kundenservice
  10 Service Delivery | Leistungserbringung im Service
    10 Enquiry Handling | Anfragenbearbeitung
    20 Complaint Handling | Beschwerdebearbeitung
    30 Field Service | Technischer Außendienst
  20 Customer Relationship | Kundenbeziehung
    10 Customer Onboarding | Kundenaufnahme
    20 Loyalty Management | Kundenbindung
    30 Customer Feedback | Kundenrückmeldung
300 Supply and Procurement | Beschaffung und Versorgung
  10 Sourcing | Bezugsquellenmanagement
    10 Category Management | Warengruppenmanagement
    20 Supplier Selection | Lieferantenauswahl
    30 Supplier Contract Management | Lieferantenvertragsmanagement
  20 Procurement | Einkauf
    10 Requisitioning | Bedarfsmeldung
    20 Purchase Ordering | Bestellung
    30 Goods Receipt | Wareneingang
  30 Supplier Management | Lieferantenmanagement
    10 Supplier Evaluation | Lieferantenbewertung
    20 Supplier Development | Lieferantenentwicklung
  40 Supply Planning | Versorgungsplanung
    10 Demand Forecasting | Bedarfsprognose
    20 Inventory Planning | Bestandsplanung
    30 Supply Network Design | Gestaltung des Versorgungsnetzes
350 Production and Logistics | Produktion und Logistik
  10 Production | Produktion
    10 Production Planning | Produktionsplanung
    20 Production Control | Produktionssteuerung
    30 Quality Assurance | Qualitätssicherung
  20 Warehousing | Lagerhaltung
    10 Storage | Einlagerung
    20 Picking and Packing | Kommissionierung und Verpackung
    30 Stock Control | Bestandsführung
  30 Transport | Transport
    10 Transport Planning | Transportplanung
    20 Shipping | Versand
    30 Shipment Tracking | Sendungsverfolgung
  40 Asset Operations | Anlagenbetrieb
    10 Asset Planning | Anlagenplanung
    20 Maintenance | Instandhaltung
    30 Asset Retirement | Anlagenstilllegung
400 Finance | Finanzen
  10 Accounting | Rechnungswesen
    10 General Ledger | Hauptbuch
    20 Accounts Payable | Kreditorenbuchhaltung
    30 Accounts Receivable | Debitorenbuchhaltung
    40 Financial Close | Abschluss
  20 Controlling | Controlling
    10 Budgeting | Budgetierung
    20 Cost Accounting | Kostenrechnung
    30 Financial Forecasting | Finanzprognose
  30 Treasury | Treasury
    10 Liquidity Management | Liquiditätsmanagement
    20 Payments | Zahlungsverkehr
    30 Financing | Finanzierung
  40 Tax and Statutory Reporting | Steuern und Pflichtberichte
    10 Tax Management | Steuermanagement
    20 Statutory Reporting | Gesetzliche Berichterstattung
  50 Billing | Fakturierung
    10 Invoicing | Rechnungsstellung
    20 Collections | Forderungseinzug
450 People | Personal
  10 Workforce Planning | Personalplanung
    10 Headcount Planning | Stellenplanung
    20 Skills Planning | Kompetenzplanung
  20 Recruiting | Personalgewinnung
    10 Candidate Sourcing | Bewerbersuche
    20 Candidate Selection | Bewerberauswahl
    30 Employee Onboarding | Einarbeitung
  30 Development | Personalentwicklung
    10 Learning | Lernen
    20 Performance Reviews | Leistungsbeurteilung
    30 Succession Planning | Nachfolgeplanung
  40 Employment Administration | Personalverwaltung
    10 Payroll | Gehaltsabrechnung
    20 Time Recording | Zeiterfassung
    30 Benefits | Zusatzleistungen
    40 Occupational Safety | Arbeitssicherheit
500 Information Technology | Informationstechnik
  10 IT Planning | IT-Planung
    10 Enterprise Architecture | Unternehmensarchitektur
    20 IT Portfolio Management | IT-Portfoliomanagement
    30 IT Financial Management | IT-Finanzmanagement
  20 Solution Delivery | Lösungsbereitstellung
    10 Software Development | Softwareentwicklung
    20 Integration | Integration
    30 Release Management | Freigabemanagement
  30 IT Operations | IT-Betrieb
    10 Service Desk | Anwenderunterstützung
    20 Infrastructure Operation | Infrastrukturbetrieb
    30 Service Continuity | Betriebskontinuität
  40 Information Security | Informationssicherheit
    10 Identity and Access | Identitäten und Zugriffe
    20 Threat Detection | Bedrohungserkennung
    30 Incident Response | Vorfallbehandlung
  50 Data Management | Datenmanagement
    10 Data Governance | Daten-Governance
    20 Master Data | Stammdaten
    30 Analytics | Analytik
550 Corporate Services | Unternehmensdienste
  10 Legal | Recht
    10 Contract Drafting | Vertragsgestaltung
    20 Litigation | Rechtsstreitigkeiten
    30 Intellectual Property | Geistiges Eigentum
  20 Communication | Kommunikation
    10 Press Relations | Pressearbeit
    20 Internal Communication | Interne Kommunikation
  30 Facilities | Liegenschaften
    10 Space Management | Flächenmanagement
    20 Building Operation | Gebäudebetrieb
  40 Sustainability | Nachhaltigkeit
    10 Emissions Accounting | Emissionsbilanzierung
    20 Sustainability Reporting | Nachhaltigkeitsberichte
`;
