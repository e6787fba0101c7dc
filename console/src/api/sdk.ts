import { Client } from '@langchain/langgraph-sdk/client';
import { API_URL } from '../app/base';
import { send } from './client';

/** The deployment API, as the official SDK speaks it. A chunk of its own, which the first page does without. */
export const sdk = new Client({ apiUrl: API_URL, apiKey: null, callerOptions: { fetch: send, maxRetries: 0 } });
