import { ApolloProvider } from '@apollo/client/react';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { client } from './gateway';
import { Nodes } from './Nodes';
import { Pods } from './Pods';

createRoot(document.getElementById('root') as HTMLElement).render(
  <StrictMode>
    <ApolloProvider client={client}>
      <Nodes />
      <Pods />
    </ApolloProvider>
  </StrictMode>,
);
